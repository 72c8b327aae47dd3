// The analyser in WASM equals its naive twin: tokens, offsets, foldings, for every single code point and for
// random texts made of the awkward ones.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { FOLD_UNICODE_AT } from "../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { EngineModule } from "../../../engine-wasm/host/engine-module.js";
import { Workbench } from "../../../engine-wasm/host/workbench.js";
import { analyse, foldValue } from "../../oracle/analyse.js";
import { loadEngine } from "./load-engine.js";

const AWKWARD = [
  ..."aZ09 _-/.,'’ʼéÉßẞæŒøØđłħıİŋſςΣßﬁ½²①Ⅳ㎏™´¨ªº\t\n\u00a0\u3000\u00ad\u200b\u200d\ufeff\ufe0f",
  ..."日本語々〇ひらカタﾊﾞﾟがガ゙゚ーﾞ한글ᄒ\u1112\u1161ㄱเก้าहिन्दीक़আোعَرَبِيآﷺ׳שׁ־ё й\u0301\u0308\u0345\u20e3👍🏽👨‍👩‍👧𝐀𝟘𠀋\u{e0100}\u{10ffff}\ue000",
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

/** Blocks of 256 that hold nothing but Han, Hangul, private or unassigned code points. */
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

const terms = (input: string, symbolsToIndex = "", tokenSeparators = ""): string[] =>
  workbench.analyse(input, { symbolsToIndex, tokenSeparators }).map((token) => token.term);
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
      { term: "u", start: 0, end: 2, position: 0 },
      { term: "cafe", start: 3, end: 9, position: 1 },
      { term: "x", start: 10, end: 11, position: 2 },
    ]);
  });

  test("follows symbols_to_index and token_separators, and forgets them again", () => {
    expect(terms("C++ C# .NET", "+#.")).toEqual(["c++", "c#", ".net"]);
    expect(terms("axb→c", "", "x→")).toEqual(["a", "b", "c"]);
    expect(terms("a→b c→d", "→")).toEqual(["a→b", "c→d"]);
    expect(terms("a+b", "+", "+")).toEqual(["a", "b"]);
    expect(terms("C++")).toEqual(["c"]);
  });

  test("cuts long terms at a code point", () => {
    expect(terms("x".repeat(500))).toEqual(["x".repeat(120)]);
    expect(terms(`${"x".repeat(119)}яz`)).toEqual(["x".repeat(119)]);
    expect(terms("я".repeat(100))).toEqual(["я".repeat(60)]);
  });

  test("takes malformed bytes for separators", () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x62, 0xc3, 0x63, 0xed, 0xa0, 0x80, 0x64, 0xf0, 0x9f);
    expect(workbench.analyse(bytes).map((token) => token.term)).toEqual(["a", "b", "c", "d"]);
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
      fc.property(text, overrides, overrides, (input, symbols, separators) => {
        const settings = { symbolsToIndex: symbols, tokenSeparators: separators };
        expect(workbench.analyse(input, settings)).toEqual(analyse(input, { symbols, separators }));
      }),
      { numRuns: 300 },
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

  test("has room for the letters that grow most", () => {
    expect(folded("ﷺ".repeat(2000))).toBe(foldValue("ﷺ").repeat(2000));
  });
});

describe("a workbench", () => {
  test("gives memory back after a large call", () => {
    workbench.fold("ﷺ".repeat(4_000_000));
    expect(workbench.ready().memoryBytes()).toBeLessThan(8 * 1024 * 1024);
  });

  test("turns a trap into an EngineError and goes on with a new instance", () => {
    const instance = workbench.ready();
    expect(() => instance.run((kernels) => kernels.analyse(0x10000000, 100))).toThrow(EngineError);
    expect(instance.usable).toBe(false);
    expect(() => instance.input(new Uint8Array(1))).toThrow(/trapped before/);
    expect(terms("still here")).toEqual(["still", "here"]);
  });

  test("refuses a damaged Unicode table", () => {
    const broken = new Workbench(() => engine.instantiate(), new Uint8Array(64));
    expect(() => broken.analyse("x")).toThrow(/damaged/);
  });
});
