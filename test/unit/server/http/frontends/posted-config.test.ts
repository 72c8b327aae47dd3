// Which process-wide limits are divided among the front-ends.
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { limitsOfEach } from "../../../../../server/http/frontends/posted-config.js";

test("each front-end gets its share of the answer cache, and full limits for small indexes", () => {
  const each = limitsOfEach(DEFAULT_LIMITS, 4);
  expect(each.rememberedAnswersBytesMax).toBe(DEFAULT_LIMITS.rememberedAnswersBytesMax / 4);
  expect(each.shownDocumentsBytesMax).toBe(DEFAULT_LIMITS.shownDocumentsBytesMax);
  expect(each.comparedVectorsBytesMax).toBe(DEFAULT_LIMITS.comparedVectorsBytesMax);
});
