// The WASM analyser agrees with the naive one on tokens, offsets and foldings, for every single code point
// and for random texts of awkward code points.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { FOLD_UNICODE_AT } from "../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import type { EngineModule } from "../../../../engine-wasm/host/instance/engine-module.js";
import { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { brokenAssertions } from "../../../broken-assertions.js";
import { analyse, foldValue } from "../../../oracle/words/analyse.js";
import { loadEngine } from "../load-engine.js";

const AWKWARD = [
  ..."aZ09 _-/.,'’ʼéÉßẞæŒøØđłħıİŋſςΣßﬁ½²①Ⅳ㎏™´¨ªº\t\n\u00a0\u3000\u00ad\u200b\u200d\ufeff\ufe0f",
  ..."\u2010\u2013\u2212/+&#:+-日本語々〇ที่ຫ້កុំមမြို့ひらカタﾊﾞﾟがガ゙゚ーﾞ한글ᄒ\u1112\u1161ㄱเก้าहिन्दीक़আোعَرَبِيآﷺ׳שׁ־ё й\u0301\u0308\u0345\u20e3👍🏽👨‍👩‍👧𝐀𝟘𠀋\u{e0100}\u{10ffff}\ue000",
];
const text = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...AWKWARD) },
      fc.string({ unit: "grapheme", maxLength: 3 }),
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => Buffer.from(parts.join("")).toString());

/** Random sequences of words and joiners. */
const runs = fc
  .array(fc.constantFrom(..."a Zb 42 7 ß x日 ก é٣ - - . / + # : _ & \u2010 ,".split(" "), " "), {
    maxLength: 30,
  })
  .map((parts) => parts.join(""));

/** Blocks of 256 that consist only of Han, Hangul, private-use or unassigned code points. */
const ALIKE: [number, number][] = [
  [0x4f00, 0x9f00],
  [0xad00, 0xd700],
  [0xe100, 0xf800],
  [0x20100, 0x2f700],
  [0x30000, 0xe0000],
  [0xe0300, 0x10ff00],
];

let engine: EngineModule;
let workbench: Workbench;
beforeAll(async () => {
  engine = await loadEngine();
  workbench = engine.workbench();
});

/** Returns only the words. */
const terms = (input: string, symbolsToIndex = "", tokenSeparators = ""): string[] =>
  workbench
    .analyse(input, { symbolsToIndex, tokenSeparators })
    .filter((token) => token.parts === 1)
    .map((token) => token.term);
/** Returns only the joined tokens. */
const joined = (input: string, symbolsToIndex = "", tokenSeparators = ""): string[] =>
  workbench
    .analyse(input, { symbolsToIndex, tokenSeparators })
    .filter((token) => token.parts > 1)
    .map((token) => `${token.term} ${token.position}+${token.parts}`);
const outline = (tokens: { term: string; start: number; end: number }[]): string =>
  tokens.map(({ term, start, end }) => `${term} ${start}-${end}`).join("\n");
const folded = (input: string): string => Buffer.from(workbench.fold(input)).toString();

describe("analyse", () => {
  test("splits and folds as people write", () => {
    expect(terms("Crème Brûlée: 2× Größe-XL!")).toEqual(["creme", "brulee", "2", "grosse", "xl"]);
    expect(terms("don't O’Neil 'quoted' rock'n'roll dogs'")).toEqual([
      "dont",
      "oneil",
      "quoted",
      "rocknroll",
      "dogs",
    ]);
    expect(terms("東京タワー")).toEqual(["東", "京", "タ", "ワ", "ー"]);
    expect(terms("ﾊﾞｶ が か\u3099")).toEqual(["ハ\u3099", "カ", "か\u3099", "か\u3099"]);
    expect(terms("한글 검색")).toEqual(["한글", "검색"]);
    expect(terms("soft\u00adhyphen zero\u200bwidth ❤\ufe0f")).toEqual(["softhyphen", "zerowidth"]);
    expect(terms("½ m² ﬁne ①")).toEqual(["12", "m2", "fine", "1"]);
    expect(terms("")).toEqual([]);
  });

  test("reports UTF-8 offsets that include trailing accents", () => {
    expect(workbench.analyse("ü cafe\u0301 x")).toEqual([
      { term: "u", start: 0, end: 2, position: 0, parts: 1 },
      { term: "cafe", start: 3, end: 9, position: 1, parts: 1 },
      { term: "x", start: 10, end: 11, position: 2, parts: 1 },
    ]);
  });

  test("follows symbols_to_index and token_separators, for that call only", () => {
    expect(terms("C++ C# .NET", "+#.")).toEqual(["c++", "c#", ".net"]);
    expect(terms("axb→c", "", "x→")).toEqual(["a", "b", "c"]);
    expect(terms("a→b c→d", "→")).toEqual(["a→b", "c→d"]);
    expect(terms("a+b", "+", "+")).toEqual(["a", "b"]);
    expect(terms("C++")).toEqual(["c"]);
  });

  test("cuts long terms at a code point boundary", () => {
    expect(terms("x".repeat(500))).toEqual(["x".repeat(120)]);
    expect(terms(`${"x".repeat(119)}яz`)).toEqual(["x".repeat(119)]);
    expect(terms("я".repeat(100))).toEqual(["я".repeat(60)]);
  });

  test("treats malformed bytes as separators", () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x62, 0xc3, 0x63, 0xed, 0xa0, 0x80, 0x64, 0xf0, 0x9f);
    expect(workbench.analyse(bytes).map((token) => token.term)).toEqual(["a", "b", "c", "d"]);
  });

  test("places joined neighbours after the last of them", () => {
    expect(workbench.analyse("a Wi-Fi ok")).toEqual([
      { term: "a", start: 0, end: 1, position: 0, parts: 1 },
      { term: "wi", start: 2, end: 4, position: 1, parts: 1 },
      { term: "fi", start: 5, end: 7, position: 2, parts: 1 },
      { term: "wifi", start: 2, end: 7, position: 1, parts: 2 },
      { term: "ok", start: 8, end: 10, position: 3, parts: 1 },
    ]);
    expect(joined("AB-123/4 and wi\u2011fi, a.b_c+d&e#f x:y")).toEqual([
      "ab1234 0+3",
      "wifi 4+2",
      "abcdef 6+6",
      "xy 12+2",
    ]);
  });

  test("joins only short words with one joiner between them, and no ideographs", () => {
    expect(joined("a - b c--d e-\u00adf g,h i·j k\u2014l")).toEqual([]);
    expect(joined("a-b-c-d-e-f-g")).toEqual([]);
    expect(joined(`${"x".repeat(60)}-${"y".repeat(60)}`)).toEqual([`${"x".repeat(60)}${"y".repeat(60)} 0+2`]);
    expect(joined(`${"x".repeat(60)}-${"y".repeat(61)}`)).toEqual([]);
    expect(joined("a-日 日-a ก-ข 日-a-b")).toEqual([]);
    expect(joined("日本a-b")).toEqual(["ab 2+2"]);
  });

  test("joins numbers only across a hyphen, dash or slash", () => {
    expect(joined("3.5 1:30 1_000 1+1 1-2.3 ٣.٥")).toEqual([]);
    expect(joined("1/2 555-1234 1\u22122 v3.5 3.5mm ٣-٥")).toEqual([
      "12 0+2",
      "5551234 2+2",
      "12 4+2",
      "v35 6+2",
      "35mm 8+2",
      "٣٥ 10+2",
    ]);
  });

  test("does not join across a joiner that the index uses as a symbol or separator", () => {
    expect(joined("wi-fi a.b", "-")).toEqual(["ab 1+2"]);
    expect(joined("wi-fi a.b", "", "-")).toEqual(["ab 2+2"]);
    expect(joined("wi\u2011fi a\u2010b", "", "\u2011")).toEqual(["ab 2+2"]);
    expect(joined("wi-fi a.b", "", "x")).toEqual(["wifi 0+2", "ab 2+2"]);
  });

  test("treats each letter of a script without spaces as a word, including its signs", () => {
    expect(terms("ที่")).toEqual(["ที่"]);
    expect(terms("เก้า")).toEqual(["เ", "ก้", "า"]);
    expect(terms("ຫ້າ")).toEqual(["ຫ້", "າ"]);
    expect(terms("កុំ ម្យ")).toEqual(["កុំ", "ម្", "យ"]);
    expect(terms("မြို့")).toEqual(["မြို့"]);
    expect(terms("ก๑๒a")).toEqual(["ก", "๑๒a"]);
  });

  test("equals the twin for every code point, alone and between two letters", ({ skip }) => {
    const { foldTable } = engine.parts;
    const version =
      new DataView(foldTable.buffer, foldTable.byteOffset).getUint32(FOLD_UNICODE_AT, true) / 10;
    skip(
      Number(process.versions.unicode) !== version,
      `the table is of Unicode ${version}, this Node is not`,
    );
    for (let first = 0; first < 0x110000; first += 256) {
      if (ALIKE.some(([low, high]) => first >= low && first < high)) continue;
      const points = Array.from({ length: 256 }, (_, i) => first + i).filter((p) => p < 0xd800 || p > 0xdfff);
      const characters = points.map((point) => String.fromCodePoint(point));
      const input = characters.map((character) => `a${character}b ${character}`).join("\n|\n");
      const block = `block ${first.toString(16)}`;
      expect(outline(workbench.analyse(input)), block).toBe(outline(analyse(input)));
      expect(folded(input), block).toBe(foldValue(input));
    }
  });

  test("equals the twin for random texts and overrides", () => {
    const overrides = fc.array(fc.constantFrom(...AWKWARD), { maxLength: 4 }).map((list) => list.join(""));
    fc.assert(
      fc.property(fc.oneof(text, runs), overrides, overrides, (input, symbols, separators) => {
        const settings = { symbolsToIndex: symbols, tokenSeparators: separators };
        expect(workbench.analyse(input, settings)).toEqual(analyse(input, { symbols, separators }));
      }),
      { numRuns: 500 },
    );
  });
});

describe("foldValue", () => {
  test("keeps punctuation, folds letters, collapses white space", () => {
    expect(folded("  Crème\t  BRÛLÉE,\u00a0№ 5 ")).toBe("creme brulee, no 5");
    expect(folded("Levi’s")).toBe("levi's");
    expect(folded(" \n ")).toBe("");
  });

  test("equals the twin and folding twice changes nothing", () => {
    fc.assert(
      fc.property(text, (input) => {
        const once = folded(input);
        expect(once).toBe(foldValue(input));
        expect(folded(once)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });

  test("has room for the letters that grow most when folded", () => {
    expect(folded("ﷺ".repeat(2000))).toBe(foldValue("ﷺ").repeat(2000));
  });
});

describe("a workbench", () => {
  test("returns memory after a large call", () => {
    workbench.fold("ﷺ".repeat(4_000_000));
    expect(workbench.ready().memoryBytes()).toBeLessThan(8 * 1024 * 1024);
  });

  test("turns a trap into an EngineError and continues with a new instance", async () => {
    const instance = workbench.ready();
    const printed = await brokenAssertions(() =>
      expect(() => instance.run((kernels) => kernels.analyse(0x10000000, 100))).toThrow(EngineError),
    );
    expect(printed).toMatch(/assertion failed: an address lies inside what the arena has given out/);
    expect(instance.usable).toBe(false);
    expect(() => instance.input(new Uint8Array(1))).toThrow(/trapped before/);
    expect(terms("still here")).toEqual(["still", "here"]);
  });

  test("refuses a damaged Unicode table", () => {
    const broken = new Workbench(() => engine.instantiate(), new Uint8Array(64));
    expect(() => broken.analyse("x")).toThrow(/damaged/);
  });
});
