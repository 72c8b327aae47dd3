// How long scrapes share one text.
import { afterEach, expect, test, vi } from "vitest";
import type { Catalog } from "../../../../server/catalog/catalog.js";
import type { Cluster } from "../../../../server/cluster/cluster.js";
import type { Lifecycle } from "../../../../server/lifecycle.js";
import { DEFAULT_LIMITS } from "../../../../server/limits.js";
import { Recorder } from "../../../../server/metrics/recorder.js";
import { Scrape } from "../../../../server/scrape.js";

afterEach(() => {
  vi.restoreAllMocks();
});

test("scrapes at once share one text; a busy thread does not keep it longer", async () => {
  let surveys = 0;
  const cluster = {
    recorder: new Recorder(),
    limits: DEFAULT_LIMITS,
    indexCounts: { loaded: 0, openings: 0, unloads: 0 },
    survey: async () => {
      surveys++;
      return { shards: [], stats: new Map() };
    },
  };
  const catalog = { state: { indexes: new Map() } };
  const scrape = new Scrape(
    catalog as unknown as Catalog,
    cluster as unknown as Cluster,
    {} as Lifecycle,
    ".",
    { bytes: 0 },
  );
  const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const taking = [scrape.text(), scrape.text()];
  now.mockReturnValue(9_000); // it takes long
  await Promise.all([...taking, scrape.text()]);
  await scrape.text();
  expect(surveys).toBe(1);
  now.mockReturnValue(9_251); // no timer has had its turn
  await scrape.text();
  expect(surveys).toBe(2);
});
