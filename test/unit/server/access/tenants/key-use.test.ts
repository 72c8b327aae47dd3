// The last day on which a key was used, on a real catalog.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeyUse } from "../../../../../server/access/tenants/key-use.js";
import { Catalog } from "../../../../../server/catalog/catalog.js";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { createLogger } from "../../../../../server/ground/log.js";

const BEFORE_MIDNIGHT = Date.parse("2030-01-31T23:59:59.900Z");
const AFTER_MIDNIGHT = BEFORE_MIDNIGHT + 200;

let directory: string;
let catalog: Catalog;
let jobs: Jobs;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "skein-key-use-"));
  catalog = await Catalog.open(directory);
  jobs = new Jobs(createLogger("fatal"));
});

afterEach(async () => {
  await jobs.drain();
  await catalog.close();
  rmSync(directory, { recursive: true });
});

async function createKey(): Promise<number> {
  const { keys } = await catalog.change(({ nextKeyId: id }) => {
    const scopes = ["search"] as const;
    const limits = { expiresAt: null, rateLimit: null };
    const shown = { name: `key ${id}`, hash: `hash-${id}`, prefix: "sk_abc" };
    const createdAt = "2030-01-01T00:00:00.000Z";
    return {
      type: "key.put",
      key: { id, tenant: 1, ...shown, scopes, indexes: ["*"], ...limits, createdAt },
    };
  });
  return [...keys.keys()].at(-1)!;
}

const lastUse = (id: number) => catalog.state.keys.get(id)?.lastUsedOn;

test("a use that is stored after midnight counts for the day on which it happened", async () => {
  const [early, both, late] = [await createKey(), await createKey(), await createKey()];
  const use = new KeyUse(catalog, jobs);
  for (const id of [early, both]) use.used(id, BEFORE_MIDNIGHT);
  for (const id of [both, late]) use.used(id, AFTER_MIDNIGHT);
  await use.store();
  expect([early, both, late].map(lastUse)).toEqual(["2030-01-31", "2030-02-01", "2030-02-01"]);
});

test("a use that is reported late does not replace a later one", async () => {
  const id = await createKey();
  const use = new KeyUse(catalog, jobs);
  use.used(id, AFTER_MIDNIGHT);
  use.used(id, BEFORE_MIDNIGHT);
  await use.store();
  expect(lastUse(id)).toBe("2030-02-01");
});

test("only the first use of a day changes the catalog", async () => {
  const id = await createKey();
  const use = new KeyUse(catalog, jobs);
  use.used(id, BEFORE_MIDNIGHT);
  await use.store();
  const { version } = catalog.state;
  use.used(id, BEFORE_MIDNIGHT + 50);
  await use.store();
  expect(catalog.state.version).toBe(version);
});
