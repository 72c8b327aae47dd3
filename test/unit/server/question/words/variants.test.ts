// The additional spellings that a query searches, with the engine's own analyser: joined and split words,
// part numbers, stems, words in scripts without spaces, synonyms.
import { beforeAll, describe, expect, it } from "vitest";
import type { EngineModule } from "../../../../../engine-wasm/host/instance/engine-module.js";
import { stem } from "../../../../../engine-wasm/host/stemmer.js";
import type { SynonymGroup } from "../../../../../server/catalog/records/synonym.js";
import { type TextAnalyser, textAnalyser } from "../../../../../server/catalog/schema/text-analyser.js";
import { type QueryText, readQueryText } from "../../../../../server/question/words/query-text.js";
import { SynonymMap } from "../../../../../server/question/words/synonyms.js";
import {
  type Form,
  joinedForms,
  joinsOf,
  looseSplitForms,
  splitForms,
  stemForm,
  stemTerms,
  synonymVariants,
} from "../../../../../server/question/words/variants.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { schema } from "../../record.js";

let analyser: TextAnalyser;

beforeAll(async () => {
  const engine: EngineModule = await loadEngine();
  analyser = textAnalyser(engine.workbench(), schema);
});

const read = (q: string, stopWords: string[] = []): QueryText =>
  readQueryText(q, analyser, {
    prefix: true,
    typos: { numTypos: 2, minLength1: 4, minLength2: 8, onNumbers: false },
    stopWords: new Set(stopWords),
    wordsMax: 64,
  });

/**
 * Formats a form's terms, with + between terms that must be adjacent, | between others, and * after a
 * prefix.
 */
const shown = ({ terms, sequence, prefix }: Form): string =>
  `${terms.join(sequence ? "+" : "|")}${prefix ? "*" : ""}`;

/** Returns all forms except splits of words, each after the numbers of the words that it stands for. */
function variants(
  q: string,
  { languages = [] as number[], groups = [] as SynonymGroup[], sku = false, stopWords = [] as string[] } = {},
): string[] {
  const text = read(q, stopWords);
  const forms = [
    ...text.words.map((word, i) => ({ covers: [i], form: stemForm(word, languages) })),
    ...joinsOf(text, sku).flatMap((join) => joinedForms(join).map((form) => ({ covers: join.covers, form }))),
    ...synonymVariants(text, new SynonymMap(groups, analyser), languages),
  ];
  return forms.flatMap(({ covers, form }) => (form === null ? [] : `${covers.join("")}:${shown(form)}`));
}

const group = (type: SynonymGroup["type"], synonyms: string[], root: string | null = null): SynonymGroup => ({
  id: 1,
  index: 1,
  type,
  synonyms,
  root,
  enabled: true,
  created_at: "",
  updated_at: "",
});

describe("joined and split words", () => {
  it("joins neighbours and hyphenated words", () => {
    expect(variants("wi-fi")).toEqual(expect.arrayContaining(["01:wifi*", "01:wifi"]));
    expect(variants("wi fi")).toEqual(["01:wifi"]);
    expect(variants("AB 123 4")).toEqual(
      expect.arrayContaining(["01:ab123", "012:ab1234", "012:ab1234*", "12:1234*"]),
    );
    expect(variants("big red dog")).not.toContain("012:bigreddog");
  });

  it("joins repeated text only once", () => {
    expect(variants("ab-1/".repeat(800), { sku: true }).length).toBeLessThan(50);
    expect(variants("wi-fi-".repeat(600))).toEqual([...new Set(variants("wi-fi-".repeat(600)))]);
  });

  it("does not join across a stop word, a quote or a letter still being typed", () => {
    const joined = (q: string, stopWords: string[] = []): string[] => variants(q, { stopWords });
    expect(joined("pin up", ["up"])).toEqual([]);
    expect(joined('"ab" cd')).toEqual([]);
    expect(joined("for m")).toEqual([]);
  });

  it("cuts words in two, and between letters and digits", () => {
    const cuts = (q: string): string[] => splitForms(read(q).words[0]!).map(shown);
    expect(cuts("wifi")).toEqual(["wi+fi"]);
    expect(cuts("tshirt")).toEqual(["t+shirt", "ts+hirt", "tsh+irt", "tshi+rt"]);
    expect(cuts("iphone15")).toEqual(["iphone+15"]);
    expect(cuts("ab123")).toEqual(["ab+123", "ab+1+23", "ab+12+3"]);
    expect(cuts("a1b2")).toEqual(["a+1+b+2", "a+1b2", "a1+b2", "a1b+2"]);
    expect(cuts("2024")).toEqual([]);
    expect(cuts('"wifi"')).toEqual([]);
  });

  it("cuts a number anywhere on request", () => {
    const [word] = read("ab12").words;
    expect(looseSplitForms(word!).map(shown)).toEqual([
      "a+b12",
      "a+b+12",
      "a+b1+2",
      "ab+12",
      "ab+1+2",
      "ab1+2",
    ]);
  });

  it("treats the whole query as a part number if there is a part number field", () => {
    expect(variants("AB-123/4", { sku: true })).toEqual(
      expect.arrayContaining(["012:\u0002ab1234", "012:\u0002ab1234*"]),
    );
    expect(variants("red shirt", { sku: true })).toContain("01:\u0002redshirt");
    expect(variants("red shirt", { sku: true })).not.toContain("01:\u0002redshirt*");
    expect(variants('"AB-123"', { sku: true })).toEqual([]);
  });
});

describe("scripts without spaces", () => {
  it("cuts them into words whose characters are adjacent", () => {
    expect(read("東京都の天気").words.map((word) => word.terms.join(""))).toEqual([
      "東京",
      "都",
      "の",
      "天気",
    ]);
    expect(read("iPhone15ケース").words.map((word) => word.terms.join(""))).toEqual(["iphone15", "ケース"]);
  });

  it("allows Korean particles to follow", () => {
    expect(read("노트북 가방").words.map((word) => word.prefix)).toEqual([true, true]);
  });
});

describe("stems", () => {
  it("give one variant per word, and none for numbers", () => {
    expect(variants("red printers", { languages: [1] })).toEqual(
      expect.arrayContaining([`0:${stemTerms("red", [1])[0]}`, `1:\u0001!${stem(1, "printers")}`]),
    );
    expect(stemTerms("ab12", [1])).toEqual([]);
  });
});

describe("synonyms", () => {
  it("replace each other, phrases only where adjacent", () => {
    const groups = [group("multi_way", ["TV", "Television set", "tv"])];
    expect(variants("tv", { groups })).toEqual(["0:television+set"]);
    expect(variants("cheap television set", { groups })).toContain("12:tv");
  });

  it("are used once for repeated text, and for as many stretches as a program can hold", () => {
    const others = Array.from({ length: 99 }, (_, i) => `other${i}`);
    const groups = ["a", "b", "c"].map((letter) =>
      group("one_way", ["shoe", ...others.map((other) => other + letter)], "shoe"),
    );
    expect(variants("shoe ".repeat(800), { groups })).toEqual([...new Set(variants("shoe", { groups }))]);
    expect(variants("shoe", { groups }).filter((one) => one.includes("other"))).toHaveLength(200);

    const words = Array.from(
      { length: 60 },
      (_, i) => `word${String.fromCharCode(97 + (i % 26))}${i > 25 ? "x" : ""}${i > 51 ? "y" : ""}`,
    );
    const stretches = words.flatMap((word, i) => [word, words.slice(0, i + 2).join(" ")]);
    const many = stretches.map((stretch) => group("one_way", [stretch, "zebra"], stretch));
    const standIns = variants(words.join(" "), { groups: many }).filter((one) => one.endsWith(":zebra"));
    expect(standIns).toHaveLength(100);
  });

  it("go one way from the root, and not at all when disabled", () => {
    const groups = [group("one_way", ["trousers", "jeans"], "trousers")];
    expect(variants("trousers", { groups })).toContain("0:jeans");
    expect(variants("jeans", { groups })).not.toContain("0:trousers");
    expect(variants("trousers", { groups: [{ ...groups[0]!, enabled: false }] })).not.toContain("0:jeans");
  });

  it("are used with their own other forms in a language", () => {
    const groups = [group("multi_way", ["sofa", "couches"])];
    expect(variants("sofa", { groups, languages: [1] })).toContain(`0:couches|\u0001!${stem(1, "couches")}`);
  });
});
