// Highlights in random texts, compared with a simple rule: how many letters of each token a query word
// matches.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Token, Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { languageNumber, stem } from "../../../../engine-wasm/host/stemmer.js";
import type { HighlightField, HighlightWord } from "../../../../shards/protocol/fetch.js";
import { engineModule } from "../harness.js";
import { field, highlighted, word } from "./highlighted.js";

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await engineModule()).workbench();
});

const EN = languageNumber("en");
const stemOf = (term: string): string => `\u0001${String.fromCharCode(0x20 + EN)}${stem(EN, term)}`;

// Words that keep their number of letters when folded. They are few and similar, so that they collide.
const term = fc.constantFrom(
  "ab",
  "abc",
  "ab1",
  "b",
  "1",
  "12",
  "wi",
  "fi",
  "wifi",
  "shoe",
  "shoes",
  "cafe",
  "京",
  "都",
);
const spelled = term.chain((one) => fc.constantFrom(one, one.toUpperCase(), one.replace("e", "é")));
const separator = fc.constantFrom(" ", " ", " ", ", ", ". ", "-", "/", " & ", "<", "\n");
const text = fc
  .array(fc.tuple(spelled, separator), { maxLength: 25 })
  .map((pieces) => pieces.map(([one, gap]) => one + gap).join(""));

const joined = fc.array(term, { minLength: 1, maxLength: 3 }).map((terms) => terms.join(""));
const queryWord: fc.Arbitrary<HighlightWord> = fc
  .record({
    terms: fc.array(
      fc.oneof(
        term,
        joined,
        term.map(stemOf),
        joined.map((one) => `\u0002${one}`),
      ),
      { maxLength: 2 },
    ),
    prefixes: fc.array(
      fc.oneof(
        term,
        joined,
        joined.map((one) => `\u0002${one}`),
      ),
      { maxLength: 2 },
    ),
    typos: fc.array(fc.oneof(term, term.map(stemOf)), { maxLength: 2 }),
    sequences: fc.array(fc.array(term, { minLength: 1, maxLength: 3 }), { maxLength: 1 }),
  })
  .map(word);
const asked: fc.Arbitrary<HighlightField> = fc
  .record({ language: fc.constantFrom(0, EN), sku: fc.boolean() })
  .map((more) => field("t", more));

/** Returns how many letters of plain token `i` a word matches. */
function lettersFor(
  one: HighlightWord,
  tokens: readonly Token[],
  i: number,
  { language, sku }: HighlightField,
): number {
  const plain = tokens.filter(({ parts }) => parts === 1);
  const own = plain[i] as Token;
  const all = {
    term: `\u0002${plain.map((token) => token.term).join("")}`,
    position: 0,
    parts: plain.length,
  };
  let most = 0;
  for (const { term: key, position, parts } of sku ? [...tokens, all] : tokens) {
    if (i < position || i >= position + parts) continue;
    const before = plain.slice(position, i).reduce((sum, token) => sum + token.term.length, 0);
    const fitting = one.prefixes.filter((prefix) => key.startsWith(prefix));
    const forms = language > 0 && parts === 1 && key !== all.term ? [key, stemOf(key)] : [key];
    const whole =
      one.terms.some((it) => forms.includes(it)) ||
      (fitting.length === 0 && one.typos.some((it) => forms.includes(it)));
    if (whole) return own.term.length;
    for (const prefix of fitting) most = Math.max(most, prefix.replace("\u0002", "").length - before);
  }
  for (const sequence of one.sequences) {
    for (let start = 0; start < plain.length; start++) {
      const places = sequence.map((it, k) =>
        tokens.find((token) => token.position === start + k && token.term === it),
      );
      if (places.some((place) => place === undefined)) continue;
      const covers = places.some((place) => i >= place!.position && i < place!.position + place!.parts);
      if (covers) return own.term.length;
    }
  }
  return Math.min(most, own.term.length);
}

/** Returns a snippet's text without tags, and its marked ranges in UTF-16 units. */
function readSnippet(snippet: string): { text: string; marks: { start: number; end: number }[] } {
  const marks: { start: number; end: number }[] = [];
  let out = "";
  for (const [i, piece] of snippet.split(/\ue000|\ue001/).entries()) {
    if (i % 2 === 1) marks.push({ start: out.length, end: out.length + piece.length });
    out += piece;
  }
  return { text: out, marks };
}

const tags = { startTag: "\ue000", endTag: "\ue001" };

test("property: in every token exactly the letters that a word matches are marked", () => {
  const property = fc.property(text, fc.array(queryWord, { maxLength: 3 }), asked, (value, words, one) => {
    const tokens = workbench.analyse(value);
    const plain = tokens.filter(({ parts }) => parts === 1);
    const bytes = Buffer.from(value);
    const expected = plain.map((_, i) => Math.max(0, ...words.map((it) => lettersFor(it, tokens, i, one))));
    const shown = highlighted(workbench, { t: value }, { fields: [one], words, ...tags }).t;
    if (shown === undefined) {
      expect(expected.every((letters) => letters === 0)).toBe(true);
      return;
    }
    const { text: stripped, marks } = readSnippet(shown.snippet);
    expect(stripped).toBe(value);
    const starts = plain.map((token) => bytes.toString("utf8", 0, token.start).length);
    expect(marks.every(({ start, end }) => end > start && starts.includes(start))).toBe(true);
    const marked = plain.map(({ term: it }, i) => {
      const start = starts[i] as number;
      return Array.from(it).filter((_, k) =>
        marks.some((mark) => mark.start <= start + k && start + k < mark.end),
      ).length;
    });
    expect(marked).toEqual(expected);
    expect(new Set(shown.matched_tokens).size).toBe(shown.matched_tokens.length);
    for (const spelling of shown.matched_tokens) expect(value).toContain(spelling);
  });
  fc.assert(property, { numRuns: 1500 });
});

test("property: a snippet is a piece of the text, with the same marks as the whole text", () => {
  const words = fc.array(queryWord, { minLength: 1, maxLength: 3 });
  const property = fc.property(
    text,
    words,
    asked,
    fc.integer({ min: 1, max: 8 }),
    (value, query, one, size) => {
      const show = (snippetTokens: number) =>
        highlighted(workbench, { t: value }, { fields: [one], words: query, snippetTokens, ...tags }).t;
      const whole = show(0);
      const part = show(size);
      expect(part?.matched_tokens).toEqual(whole?.matched_tokens);
      if (part === undefined || whole === undefined) return;
      const inner = part.snippet.replace(/^…/, "").replace(/…$/, "");
      expect(whole.snippet).toContain(inner);
      expect(value).toContain(readSnippet(inner).text);
      expect(readSnippet(inner).marks.length).toBeGreaterThan(0);
      const count = (snippet: string): number =>
        workbench.analyse(readSnippet(snippet).text).filter(({ parts }) => parts === 1).length;
      if (readSnippet(inner).marks.length > 1) expect(count(inner)).toBeLessThanOrEqual(size);
    },
  );
  fc.assert(property, { numRuns: 500 });
});
