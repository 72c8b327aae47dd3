// Texts that a visitor may type, interpreted with facts about a shop: interpretation never fails and never
// takes long, and each resulting filter fits the index.

import { DEFAULT_LIMITS, FIXED_LIMITS } from "../../../server/ground/limits.js";
import { compileFilter } from "../../../server/question/filter/filter-compile.js";
import { mayName } from "../../../server/search/understanding/glance.js";
import { readText } from "../../../server/search/understanding/read.js";
import { rewritten } from "../../../server/search/understanding/reading.js";
import { tokensOf } from "../../../server/search/understanding/tokens.js";
import { queried } from "../../unit/server/record.js";
import { factsOf, RECORD } from "../../unit/server/search/understanding/shop.js";
import { finding, mutateText, type Target } from "../target.js";

const PIECES = [
  ...'under |over |between |and |from |to |up to |at least |50|20 |1,299.99|€|$| euro| inch|"| stars|+|-|<|>=| m|gb|'.split(
    "|",
  ),
  ..."without |ohne |sans |sin |no |not |the |cheapest |newest |best rated |günstigste |les moins chers |red |schwarze |".split(
    "|",
  ),
  ..."adidas |adidsa |hp |shoes|brand |size |color |show me |please|`|&&|:|[|]|🙂|ß|İ|٥|５０|\u0000|\u200f|tn-2110 |1/2 ".split(
    "|",
  ),
];
const PIECES_MAX = 30;
const CPU_MS_MAX = 1_000;
const TOKENS_MAX = FIXED_LIMITS.understandingTokensMax;

/** Input: the text in UTF-16. */
export function understandingTarget(): Target {
  const facts = factsOf();
  const index = queried(RECORD);
  return {
    name: "understanding",
    generate(random) {
      const pieces = Array.from({ length: random.from(0, PIECES_MAX) }, () => random.pick(PIECES));
      return Buffer.from(mutateText(random, pieces.join(""), PIECES), "utf16le");
    },
    check(input) {
      const text = Buffer.from(input).toString("utf16le");
      const { user: before } = process.cpuUsage();
      mayName(tokensOf(text), new Set(["brand"]));
      const read = readText(text, facts, TOKENS_MAX);
      const values = read?.values ?? [];
      const spent = (process.cpuUsage().user - before) / 1000;
      if (spent > CPU_MS_MAX) finding(`took ${spent} ms`);
      if (read === null) return;
      const { filterBy } = rewritten(text, read.tokens, [...read.named, ...read.fillers]);
      if (filterBy !== null) compileFilter(filterBy, index, DEFAULT_LIMITS);
      for (const { filter } of values) if (filter !== undefined) compileFilter(filter, index, DEFAULT_LIMITS);
    },
    close: async () => undefined,
  };
}
