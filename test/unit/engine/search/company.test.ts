// The company kernel, which counts co-occurring words, agrees with a naive model over several segments with
// deleted rows, and refuses invalid programs.
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  COMPANY_WORDS_MAX,
  FLAG_INDEX,
  PROGRAM_COMPANY,
  PROGRAM_EXPAND,
  PROGRAM_VERSION,
  TYPE_STRING,
} from "../../../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import {
  type CompanyProgram,
  type CompanyWord,
  encodeCompany,
} from "../../../../engine-wasm/host/programs/company-program.js";
import {
  type CompanyResult,
  decodeCompanyResult,
} from "../../../../engine-wasm/host/programs/company-result.js";
import { languageNumber } from "../../../../engine-wasm/host/stemmer.js";
import { effort } from "../../../effort.js";
import type { Row } from "../../../oracle/segments/rows.js";
import { stemTerms } from "../../../oracle/words/markers.js";
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
  WORDS,
} from "../segments/catalogue.js";

const module = await loadEngine();
const bench = module.workbench();
const TERMS = [...WORDS.map((word) => bench.analyse(word)[0]!.term), "acme", "nowhere"];

function run({ engine, snapshot }: Catalogue, program: CompanyProgram): CompanyResult {
  return decodeCompanyResult(engine.company(snapshot, encodeCompany(program)), program);
}

function twin(rows: Row[], { slots, words, candidates }: CompanyProgram): CompanyResult {
  const has = (row: Row, word: CompanyWord): boolean =>
    word.some((term) => slots.some((slot) => row.texts.get(FIELDS[slot]?.name ?? "")?.positions.has(term)));
  const count = (...all: CompanyWord[]): number =>
    rows.filter((row) => all.every((word) => has(row, word))).length;
  return {
    liveRows: rows.length,
    words: words.map((word) => count(word)),
    candidates: candidates.map((candidate) => ({
      documents: count(candidate),
      together: words.map((word) => count(candidate, word)),
    })),
  };
}

function randomWords(pick: Pick): CompanyWord[] {
  return Array.from({ length: pick([0, 1, 2, 4]) }, () =>
    Array.from({ length: pick([0, 1, 1, 1, 2, 5]) }, () => pick(TERMS)),
  );
}

function randomCompany(pick: Pick): CompanyProgram {
  return {
    slots: [...TEXT_SLOTS, 3, 77].filter(() => pick([true, true, false])),
    words: randomWords(pick),
    candidates: randomWords(pick),
  };
}

afterEach(() => void vi.restoreAllMocks());

test("random words in random documents", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 150 }),
      fc.array(fc.integer({ min: 1, max: 130 }), { maxLength: 2 }),
      fc.integer(),
      (count, cuts, seed) => {
        const pick = picker(seed);
        const documents = Array.from({ length: count }, (_, i) => randomDocument(i, pick));
        const deadShare = pick([0, 2, 6]);
        const dead = (i: number): boolean => deadShare > 0 && i % deadShare === 1;
        const catalogue = makeCatalogue(module, bench, groupsOf(documents, cuts), dead);
        for (let i = 0; i < 8; i++) {
          const program = randomCompany(pick);
          expect(run(catalogue, program)).toEqual(twin(catalogue.rows, program));
        }
      },
    ),
    { numRuns: effort(40, 400) },
  );
});

test("long posting lists, in one segment and in several", () => {
  const pick = picker(3);
  const documents = Array.from({ length: 2000 }, (_, i) => randomDocument(i, pick));
  for (const cuts of [[], [1, 700, 64]]) {
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, cuts), (i) => i % 7 === 2);
    for (let i = 0; i < 10; i++) {
      const program = randomCompany(pick);
      expect(run(catalogue, program)).toEqual(twin(catalogue.rows, program));
    }
  }
});

test("a stem is a term like any other, a prefix is not", () => {
  const language = languageNumber("en");
  const fields = [{ slot: 0, name: "t", type: TYPE_STRING, flags: FLAG_INDEX, language }];
  const raw = ["running shoes", "runs", "shoe"].map((t, i) => ({
    seq: i + 1,
    raw: Buffer.from(JSON.stringify({ id: `${i}`, t })),
  }));
  const engine = module.engine();
  const { segment } = bench.build({ fields, analysis: PLAIN_ANALYSIS }, raw);
  const snapshot = engine.setSnapshot([{ segment: engine.attach(segment!), live: 0 }]);
  const [run, shoe] = [stemTerms("runs", [language]), stemTerms("shoes", [language])];
  const program = {
    slots: [0],
    words: [["shoe", ...shoe], ["sho"]],
    candidates: [run, ["runs"], ["running", "runs"], ["runn"]],
  };
  expect(decodeCompanyResult(engine.company(snapshot, encodeCompany(program)), program)).toEqual({
    liveRows: 3,
    words: [2, 0],
    candidates: [
      { documents: 2, together: [1, 0] },
      { documents: 1, together: [0, 0] },
      { documents: 2, together: [1, 0] },
      { documents: 0, together: [0, 0] },
    ],
  });
});

describe("a program is refused if it", () => {
  const catalogue = makeCatalogue(module, bench, [[{ id: "1", title: "a b" }]], () => false);
  const good: CompanyProgram = { slots: [0], words: [["a"]], candidates: [["b"]] };
  const refused = { code: "program" };
  const ask = (bytes: Uint8Array) => () => catalogue.engine.company(catalogue.snapshot, bytes);
  /** Encodes a program: version and kind, then `numbers` as u16. */
  const bytesOf = (numbers: number[], kind = PROGRAM_COMPANY, version = PROGRAM_VERSION): Uint8Array => {
    const bytes = Buffer.alloc(3 + numbers.length * 2);
    bytes.writeUInt16LE(version, 0);
    bytes.writeUInt8(kind, 2);
    for (const [i, number] of numbers.entries()) bytes.writeUInt16LE(number, 3 + 2 * i);
    return bytes;
  };
  const none = (count: number): number[] => Array.from({ length: count }, () => 0);

  test("is of another kind or version", () => {
    expect(ask(bytesOf([0, 0, 0]))).not.toThrow();
    expect(ask(bytesOf([0, 0, 0], PROGRAM_EXPAND))).toThrow(expect.objectContaining(refused));
    expect(ask(bytesOf([0, 0, 0], PROGRAM_COMPANY, PROGRAM_VERSION + 1))).toThrow(
      expect.objectContaining(refused),
    );
  });

  test("repeats a slot or has an empty term", () => {
    expect(run(catalogue, good).candidates).toEqual([{ documents: 1, together: [1] }]);
    expect(() => run(catalogue, { ...good, slots: [0, 0] })).toThrow(expect.objectContaining(refused));
    expect(() => run(catalogue, { ...good, words: [[""]] })).toThrow(expect.objectContaining(refused));
    expect(() => run(catalogue, { ...good, candidates: [["b", ""]] })).toThrow(
      expect.objectContaining(refused),
    );
  });

  test("has more words or candidates than allowed", () => {
    const most = COMPANY_WORDS_MAX;
    expect(ask(bytesOf([0, most, ...none(most), most, ...none(most)]))).not.toThrow();
    expect(ask(bytesOf([0, most + 1, ...none(most + 1), 0]))).toThrow(expect.objectContaining(refused));
    expect(ask(bytesOf([0, 0, most + 1, ...none(most + 1)]))).toThrow(expect.objectContaining(refused));
    const many = Array.from({ length: most + 1 }, () => ["a"]);
    expect(() => encodeCompany({ ...good, words: many })).toThrow(RangeError);
    expect(() => encodeCompany({ ...good, candidates: many })).toThrow(RangeError);
  });

  test("promises more than it contains", () => {
    for (const numbers of [[0xffff], [0, 0xffff], [0, 1, 0xffff], [0, 0, 0xffff], [0, 0, 1, 0xffff]])
      expect(ask(bytesOf(numbers))).toThrow(expect.objectContaining(refused));
  });
});

test("the deadline stops counting many terms, and the next call works", () => {
  const documents = Array.from({ length: 300 }, (_, i) => ({ id: `${i}`, title: `word${i}` }));
  const catalogue = makeCatalogue(module, bench, [documents], () => false);
  const terms = documents.map(({ title }) => title);
  const program: CompanyProgram = { slots: [0], words: [terms], candidates: [] };
  let clock = 0;
  vi.spyOn(Date, "now").mockImplementation(() => clock++);
  const late = (deadline: number) => () =>
    catalogue.engine.company(catalogue.snapshot, encodeCompany(program), deadline);
  expect(late(50)).toThrow(expect.objectContaining({ code: "late" }));
  expect(clock).toBe(52); // 51 clock reads within the time limit, plus one
  clock = 0;
  expect(late(1000)).not.toThrow();
  expect(run(catalogue, program).words).toEqual([300]);
});
