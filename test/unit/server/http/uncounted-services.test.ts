// The services for queries that no client has sent keep what they learn to themselves.
import { expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { createLogger } from "../../../../server/ground/log.js";
import type { SearchServices } from "../../../../server/http/services.js";
import { uncountedServices } from "../../../../server/http/uncounted-services.js";
import { HitSizes } from "../../../../server/search/query-cost.js";
import { makeRecord } from "../record.js";

it("do not change what clients' queries are expected to need", () => {
  const hitSizes = new HitSizes();
  const record = makeRecord();
  const first = hitSizes.of(record);
  const clients = { limits: DEFAULT_LIMITS, log: createLogger("fatal"), hitSizes };
  const own = uncountedServices(clients as unknown as SearchServices, "key");
  own.hitSizes.answered(record, 100, 10);
  expect(own.hitSizes.of(record)).toBeLessThan(first);
  expect(hitSizes.of(record)).toBe(first);
});
