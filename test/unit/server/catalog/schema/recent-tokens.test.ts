// Short texts are analysed only once for each set of analysis settings.
import { expect, it } from "vitest";
import { RecentTokens } from "../../../../../server/catalog/schema/recent-tokens.js";
import type { TextAnalyser } from "../../../../../server/catalog/schema/text-analyser.js";
import { analyser } from "../../record.js";

/** An analyser that records the texts it analyses and prefixes each term with its own name. */
function noting(analysis: string, asked: string[]): TextAnalyser {
  const tokens = (text: string) => {
    asked.push(text);
    return analyser.tokens(text).map((token) => ({ ...token, term: `${analysis} ${token.term}` }));
  };
  return { ...analyser, analysis, tokens };
}
const terms = (from: TextAnalyser, text: string): string[] => from.tokens(text).map(({ term }) => term);

it("remembers short texts, and keeps analysis settings apart", () => {
  const recent = new RecentTokens();
  const [one, other]: [string[], string[]] = [[], []];
  const [plain, special] = [recent.remembering(noting("a", one)), recent.remembering(noting("b", other))];
  for (let round = 0; round < 2; round++) {
    expect(terms(plain, "wi-fi")).toEqual(["a wi", "a fi"]);
    expect(terms(special, "wi-fi")).toEqual(["b wi", "b fi"]);
    expect(terms(plain, "word ".repeat(20))).toHaveLength(20);
  }
  expect(one).toEqual(["wi-fi", "word ".repeat(20), "word ".repeat(20)]);
  expect(other).toEqual(["wi-fi"]);
});

it("keeps what is used and evicts the rest", () => {
  const asked: string[] = [];
  const remembering = new RecentTokens().remembering(noting("a", asked));
  remembering.tokens("left");
  for (let i = 0; i < 10_000; i++) {
    remembering.tokens(`word${i}`);
    remembering.tokens("kept");
  }
  remembering.tokens("left");
  expect(asked.filter((text) => text === "kept")).toHaveLength(1);
  expect(asked.filter((text) => text === "left")).toHaveLength(2);
});
