// The build kernel: a segment of random documents, decoded by the naive reader, agrees with the naive model.
// Covers every reason to refuse a document, and that a refused document leaves no trace.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import type { BuildField } from "../../../../engine-wasm/host/instance/build.js";
import { PLAIN_ANALYSIS, type Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { languageNumber } from "../../../../engine-wasm/host/stemmer.js";
import { readSegment } from "../../../oracle/segments/segment-reader.js";
import { makeSegment } from "../../../oracle/segments/segment-twin.js";
import { printJson } from "../../../oracle/segments/values.js";
import { encodeNorm } from "../../../oracle/words/analyse.js";
import { loadEngine } from "../load-engine.js";
import { anyDocuments, anyFields, seqsOf, toRaw } from "./documents.js";

let bench: Workbench;
const hash = (bytes: Uint8Array): bigint => bench.hash(bytes);

beforeAll(async () => {
  bench = (await loadEngine()).workbench();
});

function field(
  slot: number,
  name: string,
  type: number,
  flags: number = L.FLAG_INDEX,
  language = 0,
): BuildField {
  return { slot, name, type, flags, language };
}

function buildTexts(fields: BuildField[], texts: (string | Uint8Array)[]) {
  const documents = texts.map((text, i) => ({ seq: i + 1, raw: Buffer.from(text as string) }));
  return bench.build({ fields, analysis: PLAIN_ANALYSIS }, documents);
}

test("random documents give the same segment as the naive twin", () => {
  fc.assert(
    fc.property(
      anyFields,
      fc.integer({ min: 1, max: 12 }),
      fc.infiniteStream(fc.nat()),
      (fields, count, random) => {
        const documents = anyDocuments(fields, count, random);
        const seqs = seqsOf(count);
        const { segment, failures } = bench.build(
          { fields, analysis: PLAIN_ANALYSIS },
          toRaw(documents, seqs),
        );
        expect(failures).toEqual([]);
        const twin = makeSegment(fields, documents, seqs, hash, { symbols: "", separators: "" });
        expect(readSegment(segment!)).toEqual(twin);
      },
    ),
    { numRuns: 150 },
  );
});

test("lists longer than a block", () => {
  const fields = [
    field(3, "title", L.TYPE_STRING),
    field(1, "tags", L.TYPE_STRINGS, L.FLAG_INDEX | L.FLAG_FACET),
  ];
  const documents = Array.from({ length: 700 }, (_, i) => ({
    id: `d${i}`,
    title: `common ${"often ".repeat(i % 7)}${i % 3 === 0 ? "third" : ""} word${i}`,
    tags: i % 5 === 0 ? [] : [`t${i % 11}`, "common tag"],
  }));
  const seqs = seqsOf(documents.length);
  const { segment } = bench.build({ fields, analysis: PLAIN_ANALYSIS }, toRaw(documents, seqs));
  expect(readSegment(segment!)).toEqual(
    makeSegment(fields, documents, seqs, hash, { symbols: "", separators: "" }),
  );
});

test("the analysis settings apply to one build only", () => {
  const fields = [field(0, "name", L.TYPE_STRING)];
  const analysis = { symbolsToIndex: "+#", tokenSeparators: "_b" };
  const terms = (settings: typeof analysis): string[] => {
    const { segment } = bench.build(
      { fields, analysis: settings },
      toRaw([{ id: "1", name: "C++ a_b c#" }], [1]),
    );
    return readSegment(segment!).terms.map(({ term }) => term);
  };
  expect(terms(analysis)).toEqual(["a", "c#", "c++"]);
  expect(terms(PLAIN_ANALYSIS)).toEqual(["a", "ab", "b", "c"]);
});

describe("marker terms", () => {
  const postings = (fields: BuildField[], document: object) => {
    const { segment } = bench.build({ fields, analysis: PLAIN_ANALYSIS }, toRaw([document], [1]));
    const { terms, fields: columns } = readSegment(segment!);
    return {
      norm: columns[0]!.norms![0],
      places: Object.fromEntries(
        terms.map(({ term, lists }) => [term, lists[0]!.postings[0]!.positions] as const),
      ),
    };
  };

  test("stems of words without digits, at the words' positions", () => {
    const english = languageNumber("en");
    const fields = [field(0, "t", L.TYPE_STRING, L.FLAG_INDEX, english)];
    const mark = `\u0001${String.fromCharCode(L.TERM_LANGUAGE + english)}`;
    expect(postings(fields, { id: "1", t: "Running runs x2s run-ner" })).toEqual({
      norm: 5,
      places: {
        [`${mark}run`]: [0, 1, 3],
        [`${mark}ner`]: [4],
        running: [0],
        runs: [1],
        x2s: [2],
        run: [3],
        ner: [4],
        runner: [3],
      },
    });
  });

  test("whole values, one per element, at their first word's position", () => {
    const fields = [field(0, "t", L.TYPE_STRINGS, L.FLAG_INDEX | L.FLAG_SKU | L.FLAG_BRAND)];
    const { norm, places } = postings(fields, {
      id: "1",
      t: ["AB 12/c", "--", "New Balance", "x".repeat(120)],
    });
    expect(norm).toBe(encodeNorm(6));
    expect(places).toMatchObject({
      "": [0, 11, 19, 29],
      "\u0002ab12c": [0],
      "\u0002newbalance": [19],
      "\u0003ab 12 c": [0],
      "\u0003new balance": [19],
      "12c": [1],
    });
    expect(Object.keys(places).filter((term) => term > "" && term < " ").length).toBe(4);
  });

  test("have the same length limit as other terms", () => {
    const fields = [
      field(0, "t", L.TYPE_STRING, L.FLAG_INDEX | L.FLAG_SKU | L.FLAG_BRAND, languageNumber("en")),
    ];
    const markers = (text: string): string[] =>
      Object.keys(postings(fields, { id: "1", t: text }).places).filter((term) => term < " ");
    expect(markers("x".repeat(118)).length).toBe(3);
    expect(markers("x".repeat(119)).length).toBe(2);
    expect(markers("x".repeat(120)).length).toBe(0);
    expect(markers(`${"x".repeat(59)}, ${"y".repeat(60)}`).length).toBe(3);
    expect(markers(`${"x".repeat(59)}, ${"y".repeat(59)}`).length).toBe(4);
  });
});

describe("values", () => {
  const fields = [
    field(0, "small", L.TYPE_INT32),
    field(1, "big", L.TYPE_INT64),
    field(2, "ratio", L.TYPE_FLOAT, L.FLAG_INDEX | L.FLAG_FACET),
    field(3, "name", L.TYPE_STRING, L.FLAG_SORT),
  ];

  test("numbers are exact", () => {
    const { segment, failures } = buildTexts(fields, [
      '{"id":"a","small":-2147483648,"big":-9223372036854775808,"ratio":-0}',
      '{"id":"b","small":1.5e1,"big":9223372036854775807,"ratio":0.1}',
      '{"id":"c","small":100e-2,"big":9.007199254740993e15,"ratio":123456789012345678901234567890}',
      '{"id":"d","ratio":2.2250738585072011e-308}',
    ]);
    expect(failures).toEqual([]);
    const [small, big, ratio] = readSegment(segment!).fields;
    expect(small!.values).toEqual([-2147483648, 15, 1, 0]);
    expect(small!.present).toEqual([true, true, true, false]);
    expect(big!.values).toEqual([-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, 0n]);
    const [large, tiny] = [Number("123456789012345678901234567890"), Number("2.2250738585072011e-308")];
    expect(ratio!.values).toEqual([0, 0.1, large, tiny]);
    expect(ratio!.dictionary).toEqual([0, tiny, 0.1, large]);
  });

  test("the last of a repeated name wins, escaped names and values are decoded, null is missing", () => {
    const { segment, failures } = buildTexts(fields, [
      '{"id":1,"\\u0069d":"x\\n","small":"no","small":7,"na\\u006de":"q\\u00e9\\ud83d\\ude00","big":null}',
    ]);
    expect(failures).toEqual([]);
    const read = readSegment(segment!);
    expect(read.ids[0]!.hash).toBe(hash(Buffer.from("x\n")));
    expect(read.fields[0]!.values).toEqual([7]);
    expect(read.fields[1]!.present).toEqual([false]);
    expect(read.fields[3]!.dictionary).toEqual([["qé😀", "qe😀"]]);
  });

  test("an empty array is not a value", () => {
    const { segment } = buildTexts(
      [field(0, "tags", L.TYPE_STRINGS)],
      ['{"id":"a","tags":[]}', '{"id":"b","tags":[""]}'],
    );
    const read = readSegment(segment!);
    expect(read.fields[0]!.present).toEqual([false, true]);
    expect(read.terms).toEqual([
      { term: "", lists: [{ slot: 0, blocks: [], postings: [{ row: 1, positions: [0] }] }] },
    ]);
  });
});

/** Returns the JSON of an embedding with this many numbers. */
function embedding(count: number): string {
  return `[${Array(count).fill("0.5").join(",")}]`;
}

test("an embedding of 512 numbers is accepted, and null counts as none", () => {
  const { segment, failures } = buildTexts(
    [],
    [`{"id":"a","embedding":${embedding(512)}}`, '{"id":"b","embedding":null}'],
  );
  expect(failures).toEqual([]);
  expect(readSegment(segment!).ids).toHaveLength(2);
});

describe("refusals", () => {
  const fields = [
    field(4, "i", L.TYPE_INT32),
    field(5, "l", L.TYPE_INT64),
    field(6, "f", L.TYPE_FLOAT),
    field(7, "b", L.TYPE_BOOL),
    field(8, "s", L.TYPE_STRING),
    field(9, "ss", L.TYPE_STRINGS, L.FLAG_INDEX | L.FLAG_FACET),
    field(10, "is", L.TYPE_INT32S),
    field(11, "fs", L.TYPE_FLOATS),
  ];

  test.each<[string, string, number, number, number]>([
    ["broken JSON", '{"id":"a",}', L.DOC_BAD_JSON, -1, 10],
    ["text after the object", '{"id":"a"} x', L.DOC_BAD_JSON, -1, 11],
    ["no object", "[1]", L.DOC_NOT_OBJECT, -1, 0],
    ["no id", '{"s":"x"}', L.DOC_NO_ID, -1, 0],
    ["id null", '{"id":null}', L.DOC_BAD_ID, -1, 6],
    ["id number", '{"id":5}', L.DOC_BAD_ID, -1, 6],
    ["id empty", '{"id":""}', L.DOC_BAD_ID, -1, 6],
    ["id too long", `{"id":"${"x".repeat(L.ID_BYTES_MAX + 1)}"}`, L.DOC_BAD_ID, -1, 6],
    ["lone surrogate", '{"id":"a","x":"\\ud800"}', L.DOC_LONE_SURROGATE, -1, 15],
    ["too deep", `{"id":"a","x":${"[".repeat(64)}${"]".repeat(64)}}`, L.DOC_TOO_DEEP, -1, 77],
    ["number in a string", '{"id":"a","i":"5"}', L.DOC_WRONG_TYPE, 4, 14],
    ["fraction for an integer", '{"id":"a","i":5.5}', L.DOC_WRONG_TYPE, 4, 14],
    ["int32 too large", '{"id":"a","i":2147483648}', L.DOC_OUT_OF_RANGE, 4, 14],
    ["int64 too large", '{"id":"a","l":9223372036854775808}', L.DOC_OUT_OF_RANGE, 5, 14],
    ["infinite float", '{"id":"a","f":1e999}', L.DOC_OUT_OF_RANGE, 6, 14],
    ["number for a bool", '{"id":"a","b":1}', L.DOC_WRONG_TYPE, 7, 14],
    ["number for a string", '{"id":"a","s":1}', L.DOC_WRONG_TYPE, 8, 14],
    ["string for an array", '{"id":"a","ss":"x"}', L.DOC_WRONG_TYPE, 9, 15],
    ["null in an array", '{"id":"a","ss":["x",null]}', L.DOC_WRONG_TYPE, 9, 20],
    ["string in int32[]", '{"id":"a","is":[1,"2"]}', L.DOC_WRONG_TYPE, 10, 18],
    ["int32[] too large", '{"id":"a","is":[1,-2147483649]}', L.DOC_OUT_OF_RANGE, 10, 18],
    ["bool in float[]", '{"id":"a","fs":[1,true]}', L.DOC_WRONG_TYPE, 11, 18],
    ["short embedding", `{"id":"a","embedding":${embedding(511)}}`, L.DOC_BAD_EMBEDDING, -1, 22],
    ["string in embedding", '{"id":"a","embedding":["1"]}', L.DOC_BAD_EMBEDDING, -1, 23],
    [
      "embedding of zeros",
      `{"id":"a","embedding":${embedding(512).replaceAll(/\d+/g, "0")}}`,
      L.DOC_BAD_EMBEDDING,
      -1,
      22,
    ],
    ["embedding of text", '{"id":"a","embedding":"x"}', L.DOC_BAD_EMBEDDING, -1, 22],
  ])("%s", (_name, text, code, slot, at) => {
    const good = '{"id":"g","i":1,"s":"good words","ss":["one","two"],"fs":[1,2]}';
    const { segment, failures } = buildTexts(fields, [text, good, text]);
    expect(failures).toEqual([
      { index: 0, code, slot, at },
      { index: 2, code, slot, at },
    ]);
    const alone = bench.build({ fields, analysis: PLAIN_ANALYSIS }, [{ seq: 2, raw: Buffer.from(good) }]);
    expect(Buffer.compare(segment!, alone.segment!)).toBe(0);
  });

  test("bytes that are not UTF-8", () => {
    const { failures } = buildTexts(fields, [
      Buffer.concat([Buffer.from('{"id":"a","x":"'), Buffer.from([0xff, 0x22, 0x7d])]),
    ]);
    expect(failures).toEqual([{ index: 0, code: L.DOC_BAD_UTF8, slot: -1, at: 15 }]);
  });

  test("a required field that is missing or null; an empty array is accepted", () => {
    const required = [field(2, "ss", L.TYPE_STRINGS, L.FLAG_INDEX | L.FLAG_REQUIRED)];
    const { failures } = buildTexts(required, ['{"id":"a"}', '{"id":"b","ss":null}', '{"id":"c","ss":[]}']);
    expect(failures.map(({ index, code, slot }) => [index, code, slot])).toEqual([
      [0, L.DOC_MISSING_FIELD, 2],
      [1, L.DOC_MISSING_FIELD, 2],
    ]);
  });

  test("of all documents: no segment is built", () => {
    expect(buildTexts(fields, ["{}"]).segment).toBeNull();
    expect(buildTexts(fields, []).segment).toBeNull();
  });
});

test("a schema with a repeated name or slot, a reserved name, or an unknown type or language is refused", () => {
  const raw = [{ seq: 1, raw: Buffer.from(printJson({ id: "a" })) }];
  const refused = (fields: BuildField[]): void => {
    expect(() => bench.build({ fields, analysis: PLAIN_ANALYSIS }, raw)).toThrow("malformed");
  };
  refused([field(1, "a", 0), field(2, "a", 0)]);
  refused([field(1, "a", 0), field(1, "b", 0)]);
  refused([field(1, "id", 0)]);
  refused([field(1, "embedding", 7)]);
  refused([field(1, "a", 8)]);
  refused([field(1, "a", 0, L.FLAG_INDEX, L.LANGUAGE_NUMBER_MAX + 1)]);
});
