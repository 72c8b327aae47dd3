// What of the limits of a process is divided among its front-ends.
import { expect, test } from "vitest";
import { limitsOfEach } from "../../../../server/frontends/posted-config.js";
import { DEFAULT_LIMITS } from "../../../../server/limits.js";

test("each front-end keeps its part of remembered answers, and of small indexes as much as one alone", () => {
  const each = limitsOfEach(DEFAULT_LIMITS, 4);
  expect(each.rememberedAnswersBytesMax).toBe(DEFAULT_LIMITS.rememberedAnswersBytesMax / 4);
  expect(each.shownDocumentsBytesMax).toBe(DEFAULT_LIMITS.shownDocumentsBytesMax);
  expect(each.comparedVectorsBytesMax).toBe(DEFAULT_LIMITS.comparedVectorsBytesMax);
});
