// Any text through the analyser: it must give the same tokens and foldings as the naive model. Bytes that are
// not UTF-8 count as separators and do no other harm.
import type { Random } from "../../../bench/random.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { analyse, foldValue } from "../../oracle/words/analyse.js";
import { Canary } from "../canary.js";
import { finding, mutateBytes, type Target } from "../target.js";

const AWKWARD = [
  ..."aZ09 _-/.,'’ʼ+&#:éÉßẞæŒøđłħıİŋſςΣﬁ½²①Ⅳ㎏™´¨ª\t\n\u00a0\u3000\u00ad\u200b\u200d\ufeff\ufe0f",
  ..."\u2010\u2013\u2212日本々〇ที่ຫ້កុំမြို့ひカタﾊﾞﾟが゙゚ー한글ᄒ\u1112\u1161ㄱไทยहिन्दीक़آوعَيﷺ׳שׁ־ёй\u0301\u0308\u0345\u20e3👍🏽𐀀𝐀𝟘𠀋\u{e0100}\u{10ffff}\ue000",
];
const CODE_POINTS = 0x110000;
const WORDS = [
  "Crème",
  "wi-fi",
  "AB-123/4",
  "3.5",
  "a.b.c.d.e.f.g",
  "C++",
  "it's",
  "東京タワー",
  "x".repeat(130),
];

/** Characters that index settings reject as symbols or separators. */
const REFUSED = /[\s\p{Cc}]/gu;

interface Case {
  text: string;
  symbols: string;
  separators: string;
}

function anyCharacter(random: Random): string {
  if (random.below(3) > 0) return random.pick(AWKWARD);
  const plane = random.pick([0x80, 0x800, 0x10000, 0x20000, CODE_POINTS]);
  const point = random.below(plane);
  return point >= 0xd800 && point < 0xe000 ? " " : String.fromCodePoint(point);
}

/** Input: a case in JSON, or the byte 0xff followed by bytes that need not be UTF-8. */
export function tokenTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const { foldTable } = module.parts;
  const canary = new Canary(module, (place, instance) => {
    const table = place(foldTable);
    instance.address(instance.run((kernels) => kernels.setUnicode(table)));
  });
  return {
    name: "tokens",
    generate(random) {
      const text = Array.from({ length: random.from(0, 24) }, () =>
        random.below(4) === 0 ? random.pick(WORDS) : anyCharacter(random),
      ).join("");
      if (random.below(5) === 0)
        return Buffer.concat([Uint8Array.of(0xff), mutateBytes(random, Buffer.from(text))]);
      const some = (): string =>
        random.below(3) > 0
          ? ""
          : Array.from({ length: random.from(1, 3) }, () => anyCharacter(random))
              .join("")
              .replace(REFUSED, "");
      return Buffer.from(JSON.stringify({ text, symbols: some(), separators: some() } satisfies Case));
    },
    check(input) {
      if (input[0] === 0xff) return checkBytes(input.subarray(1));
      const { text, symbols, separators } = JSON.parse(Buffer.from(input).toString()) as Case;
      checkBytes(Buffer.from(text));
      const tokens = bench.analyse(text, { symbolsToIndex: symbols, tokenSeparators: separators });
      const expected = analyse(text, { symbols, separators });
      if (outline(tokens) !== outline(expected))
        finding(`tokens differ:\n${outline(tokens)}\nexpected:\n${outline(expected)}`);
      const folded = Buffer.from(bench.fold(text)).toString();
      if (folded !== foldValue(text))
        finding(`folded to ${JSON.stringify(folded)}, not ${JSON.stringify(foldValue(text))}`);
    },
    close: async () => undefined,
  };

  function checkBytes(bytes: Uint8Array): void {
    canary.ask("fold", (kernels, p, length) => kernels.fold(p, length), bytes);
    canary.ask("hash", (kernels, p, length) => (Number(kernels.hash(p, length) & 1n) === 0 ? -1 : -2), bytes);
    // The tokens contain meaningless padding bytes, so the answers of the two instances are not compared.
    for (const guarded of canary.pair())
      guarded.ask((kernels, p, length) => kernels.analyse(p, length), bytes);
    bench.analyse(bytes);
  }
}

function outline(
  tokens: readonly { term: string; start: number; end: number; position: number; parts: number }[],
): string {
  return tokens
    .map(
      ({ term, start, end, position, parts }) =>
        `${JSON.stringify(term)} ${start}-${end} ${position}+${parts}`,
    )
    .join("\n");
}
