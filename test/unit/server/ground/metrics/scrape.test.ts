// How long scrapes share one reply, and which threads' counts it contains.
import { afterEach, expect, test, vi } from "vitest";
import type { Catalog } from "../../../../../server/catalog/catalog.js";
import type { OpenIndexes } from "../../../../../server/fleet/owner/open-indexes.js";
import type { ShardHealth } from "../../../../../server/fleet/owner/shard-health.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import type { Lifecycle } from "../../../../../server/indexes/lifecycle.js";
import { Scrape, type ScrapeOptions } from "../../../../../server/operate/scrape.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Returns the scrape of a server without indexes. */
function scrapeOf(given: Partial<ScrapeOptions>): Scrape {
  const catalog = { state: { indexes: new Map() } };
  return new Scrape({
    catalog: catalog as unknown as Catalog,
    indexes: { counts: { loaded: 0, openings: 0, unloads: 0 } } as OpenIndexes,
    health: { survey: async () => ({ shards: [], stats: new Map() }) } as unknown as ShardHealth,
    lifecycle: {} as Lifecycle,
    sources: { overdue: () => [] },
    dataDir: ".",
    unsent: { bytes: 0 },
    limits: DEFAULT_LIMITS,
    recorder: new Recorder(),
    ...given,
  });
}

test("concurrent scrapes share one text; a busy thread does not keep it longer", async () => {
  let surveys = 0;
  const health = {
    survey: async () => {
      surveys++;
      return { shards: [], stats: new Map() };
    },
  };
  const scrape = scrapeOf({ health: health as unknown as ShardHealth });
  const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const taking = [scrape.text(), scrape.text()];
  now.mockReturnValue(9_000); // the scrape takes a long time
  await Promise.all([...taking, scrape.text()]);
  await scrape.text();
  expect(surveys).toBe(1);
  now.mockReturnValue(9_251); // no timer has run
  await scrape.text();
  expect(surveys).toBe(2);
});

test("a scrape includes the counts of other threads", async () => {
  const other = new Recorder();
  const scrape = scrapeOf({ others: async () => [other.values()] });
  other.slowQueries = 7;
  expect(await scrape.text()).toContain("skein_slow_queries_total 7");
});
