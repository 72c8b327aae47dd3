// The expand kernel agrees with the naive model over several segments with deleted rows: frequencies, prefix
// ranges, typos (against the full optimal string alignment matrix) and field statistics.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  FLAG_BRAND,
  FLAG_INDEX,
  FLAG_SKU,
  PREFIX_TERMS_LISTED,
  TYPE_STRING,
} from "../../../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import {
  type ExpandProgram,
  type ExpandSuspect,
  type ExpandWord,
  encodeExpand,
} from "../../../../engine-wasm/host/programs/expand-program.js";
import {
  decodeExpandResult,
  type ExpandResult,
} from "../../../../engine-wasm/host/programs/expand-result.js";
import { languageNumber } from "../../../../engine-wasm/host/stemmer.js";
import { effort } from "../../../effort.js";
import type { Row } from "../../../oracle/segments/rows.js";
import { expandWord, infixesOf, makeDictionary, typosOf } from "../../../oracle/words/expand.js";
import { loadEngine } from "../load-engine.js";
import {
  type Catalogue,
  FIELDS,
  groupsOf,
  makeCatalogue,
  type Pick,
  picker,
  randomDocument,
  TEXT_SLOTS,
} from "../segments/catalogue.js";

const module = await loadEngine();
const bench = module.workbench();

function run(catalogue: Catalogue, program: ExpandProgram): ExpandResult {
  return decodeExpandResult(catalogue.engine.expand(catalogue.snapshot, encodeExpand(program)), program);
}

function twin(rows: Row[], program: ExpandProgram): ExpandResult {
  const names = program.slots.map((slot) => FIELDS[slot]?.name ?? "");
  const dictionary = makeDictionary(rows, names);
  const words = program.words.map((word) => {
    const { exact, prefixTerms, prefixFrequencies } = expandWord(dictionary, word.term, names.length);
    const termCount = Math.min(prefixTerms.length, PREFIX_TERMS_LISTED + 1);
    const terms = termCount > PREFIX_TERMS_LISTED ? null : prefixTerms;
    return {
      exact: word.exact ? exact : null,
      prefix: word.prefix ? { termCount, frequencies: prefixFrequencies, terms } : null,
      typos: word.maxTypos > 0 ? typosOf(dictionary, word.term, word.maxTypos, word.typoPrefix) : null,
      infixes:
        word.infix === undefined
          ? null
          : infixesOf(dictionary, word.term, [...names.keys()], word.infix === "anywhere"),
    };
  });
  const slots = names.map((name) => {
    const lengths = rows.flatMap((row) => row.texts.get(name)?.length ?? []);
    return { totalLength: lengths.reduce((sum, length) => sum + length, 0), documents: lengths.length };
  });
  const suspects = (program.suspects ?? []).map((suspect) => {
    const most = Math.max(
      0,
      ...suspect.witnesses.flatMap((i) => [
        ...(words[i]?.exact ?? []),
        ...(words[i]?.prefix?.frequencies ?? []),
      ]),
    );
    const maxTypos = most <= suspect.few ? suspect.maxTypos : 0;
    return { maxTypos, typos: typosOf(dictionary, suspect.term, maxTypos, suspect.typoPrefix) };
  });
  return {
    liveRows: rows.length,
    slots,
    words,
    suspects: suspects.map((one) => (one.maxTypos === 0 ? { ...one, typos: [] } : one)),
  };
}

/**
 * Returns a word made from few letters, so that many words are similar. One of the letters is outside the
 * BMP.
 */
function nearWord(pick: Pick, lengths: number[]): string {
  return Array.from({ length: pick(lengths) }, () => pick(["a", "b", "c", "d", "𐌰", "é", "я"])).join("");
}

function randomWord(pick: Pick, terms: string[]): ExpandWord {
  const term = pick([nearWord(pick, [1, 2, 3, 4, 6, 9]), pick(terms), [...pick(terms)].slice(0, 2).join("")]);
  return {
    term: bench.analyse(term)[0]?.term ?? "a",
    exact: pick([true, false]),
    prefix: pick([true, false]),
    typoPrefix: pick([true, false]),
    maxTypos: pick([0, 1, 1, 2, 2, 3, 4]),
    ...pick([{}, { infix: "anywhere" as const }, { infix: "inside" as const }]),
  };
}

function randomSuspect(pick: Pick, terms: string[], words: number): ExpandSuspect {
  const { term, typoPrefix } = randomWord(pick, terms);
  const few = pick([0, 1, 2, 5]);
  return {
    term,
    typoPrefix,
    maxTypos: pick([1, 2, 3]),
    few,
    witnesses: Array.from({ length: words }, (_, i) => i).filter(() => pick([true, true, false])),
  };
}

test("random words in random dictionaries", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 2 }),
      fc.integer(),
      (count, cuts, seed) => {
        const pick = picker(seed);
        const lengths = pick([
          [1, 2, 3],
          [3, 4, 5, 6],
          [1, 4, 8, 12],
        ]);
        const documents = Array.from({ length: count }, (_, i) => ({
          ...randomDocument(i, pick),
          title: Array.from({ length: pick([1, 3, 8, 30]) }, () => nearWord(pick, lengths)).join(" "),
        }));
        const deadShare = pick([0, 2, 6]);
        const dead = (i: number): boolean => deadShare > 0 && i % deadShare === 1;
        const catalogue = makeCatalogue(module, bench, groupsOf(documents, cuts), dead);
        const terms = documents.flatMap(({ title }) => title.split(" "));
        for (let i = 0; i < 5; i++) {
          const words = Array.from({ length: pick([0, 1, 3]) }, () => randomWord(pick, terms));
          const program = {
            slots: [...TEXT_SLOTS, 3, 77].filter(() => pick([true, true, false])),
            words,
            suspects: Array.from({ length: pick([0, 0, 1, 2]) }, () =>
              randomSuspect(pick, terms, words.length),
            ),
          };
          expect(run(catalogue, program)).toEqual(twin(catalogue.rows, program));
        }
      },
    ),
    { numRuns: effort(40, 400) },
  );
});

test("prefixes around the listing limit, across segments", () => {
  for (const total of [63, 64, 65, 66, 200]) {
    const documents = Array.from({ length: total }, (_, i) => ({
      id: `${i}`,
      title: `w${i} w${(i * 7) % total}`,
    }));
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, [40]), (i) => i === 3);
    const word = { term: "w", exact: true, prefix: true, typoPrefix: false, maxTypos: 0 };
    for (const term of ["w", "w1", "w12", "x"]) {
      const program = { slots: [0, 2], words: [{ ...word, term }] };
      expect(run(catalogue, program)).toEqual(twin(catalogue.rows, program));
    }
  }
});

test("infix terms are the shortest that contain the word, across segments and without deleted rows", () => {
  for (const total of [255, 256, 257, 900]) {
    const documents = Array.from({ length: total + 1 }, (_, i) => ({
      id: `${i}`,
      title: `x${i}é zab${i}ab${i % 7} ab`,
      brand: i % 5 === 0 ? "ab lab" : "",
    }));
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, [40, 7]), (i) => i % 11 === 3);
    const word = { exact: false, prefix: false, typoPrefix: false, maxTypos: 0 };
    for (const term of ["ab", "b1", "zab1", "x1e", "e", "nowhere", "zab11ab4"]) {
      const program: ExpandProgram = {
        slots: [2, 0],
        words: [
          { ...word, term, infix: "anywhere" },
          { ...word, term, infix: "inside" },
        ],
      };
      expect(run(catalogue, program)).toEqual(twin(catalogue.rows, program));
    }
  }
});

test("a suspect's near terms depend on how many documents its witnesses have", () => {
  const documents = Array.from({ length: 9 }, (_, i) => ({ id: `${i}`, title: i < 3 ? "shrit" : "shirt" }));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [2, 5]), () => false);
  const look = { prefix: false, typoPrefix: false, maxTypos: 0 };
  const found = (few: number, ...witnesses: number[]): [number, string[]] => {
    const program: ExpandProgram = {
      slots: [0],
      words: ["shrit", "shirt"].map((term) => ({ ...look, term, exact: true })),
      suspects: [{ term: "shritt", typoPrefix: false, maxTypos: 2, few, witnesses }],
    };
    const [suspect] = run(catalogue, program).suspects;
    return [suspect!.maxTypos, suspect!.typos.map(({ term }) => term)];
  };
  expect(found(3, 0)).toEqual([2, ["shirt", "shrit"]]);
  expect(found(2, 0)).toEqual([0, []]);
  expect(found(3, 0, 1)).toEqual([0, []]);
  expect(found(0)).toEqual([2, ["shirt", "shrit"]]);
});

test("a program is refused if a suspect allows no typos or names an unknown witness", () => {
  const catalogue = makeCatalogue(module, bench, groupsOf([{ id: "1", title: "a" }], []), () => false);
  const word = { term: "a", exact: true, prefix: false, typoPrefix: false, maxTypos: 0 };
  const suspect = { term: "a", typoPrefix: false, maxTypos: 1, few: 0, witnesses: [0] };
  const ask = (suspects: ExpandSuspect[]) => run(catalogue, { slots: [0], words: [word], suspects });
  expect(ask([suspect]).suspects).toEqual([{ maxTypos: 0, typos: [] }]);
  expect(() => ask([{ ...suspect, maxTypos: 0 }])).toThrow();
  expect(() => ask([{ ...suspect, witnesses: [1] }])).toThrow();
});

test("long fields count by their norm, also where a whole word of the live bitset is set", () => {
  const documents = Array.from({ length: 400 }, (_, i) => ({ id: `${i}`, title: "w ".repeat((i * i) % 90) }));
  const program = { slots: [0], words: [] };
  for (const dead of [(): boolean => false, (i: number): boolean => i === 250]) {
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, [130]), dead);
    expect(run(catalogue, program)).toEqual(twin(catalogue.rows, program));
  }
});

test("marker terms are found on request, but never as typos", () => {
  const fields = [
    {
      slot: 0,
      name: "t",
      type: TYPE_STRING,
      flags: FLAG_INDEX | FLAG_SKU | FLAG_BRAND,
      language: languageNumber("en"),
    },
  ];
  const raw = [{ seq: 1, raw: Buffer.from('{"id":"1","t":"ab"}') }];
  const { segment } = bench.build({ fields, analysis: PLAIN_ANALYSIS }, raw);
  const engine = module.engine();
  const snapshot = engine.setSnapshot([{ segment: engine.attach(segment!), live: 0 }]);
  const look = { exact: true, prefix: true, typoPrefix: false, maxTypos: 4 };
  const program = {
    slots: [0],
    words: ["abc", "\u0002ab", "\u0003"].map((term) => ({ term, ...look })),
  };
  const { words } = decodeExpandResult(engine.expand(snapshot, encodeExpand(program)), program);
  expect(words.map(({ typos }) => typos!.map(({ term }) => term))).toEqual([["ab"], ["ab"], ["ab"]]);
  expect(words.map(({ exact }) => exact)).toEqual([[0], [1], [0]]);
  expect(words.map(({ prefix }) => prefix!.terms)).toEqual([[], [], ["\u0003ab"]]);
});
