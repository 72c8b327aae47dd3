// Vectors from clients compared with plain arithmetic: records made from numbers, from documents' JSON and
// when a segment is built; and exact cosines.
import { expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { VECTOR_BYTES, VECTOR_SIZE } from "../../../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import { plainCosine, plainRecords } from "../../../oracle/vectors/codes.js";
import { plainRotation } from "../../../oracle/vectors/rotation.js";
import { singleCosine } from "../../../oracle/vectors/singles.js";
import { loadEngine } from "../load-engine.js";
import { randomQuery, randomVector } from "./random-vectors.js";
import { tableCosines } from "./table-cosines.js";

const module = await loadEngine();
const bench = module.workbench();

/** Returns a record's numbers, and the vector's length according to the record's scale. */
function readRecord(record: Uint8Array): { numbers: number[]; length: number } {
  expect(record.length).toBe(VECTOR_BYTES);
  const bytes = Buffer.from(record);
  const numbers = Array.from({ length: VECTOR_SIZE }, (_, i) => bytes.readInt8(4 + i));
  return { numbers, length: bytes.readFloatLE(0) * Math.hypot(...numbers) };
}

function unit(numbers: readonly number[]): number[] {
  const largest = Math.max(...numbers.map(Math.abs));
  const shares = numbers.map((number) => number / largest);
  const length = Math.hypot(...shares);
  return shares.map((share) => share / length);
}

/**
 * Expects a record with the direction of `numbers`, rounded to the nearest integers. Only a value halfway
 * between two integers may be rounded either way.
 */
function expectRecord(record: Uint8Array, numbers: readonly number[]): void {
  const turned = plainRotation(unit(numbers));
  const largest = Math.max(...turned.map(Math.abs));
  const got = readRecord(record);
  expect(got.length).toBeCloseTo(1, 5);
  expect(Math.max(...got.numbers.map(Math.abs))).toBe(127);
  for (const [i, number] of got.numbers.entries())
    expect(Math.abs(number - (turned[i]! / largest) * 127)).toBeLessThan(0.501);
}

/**
 * Returns vectors with numbers of any size: ordinary ones, a single non-zero number, the smallest and the
 * largest float.
 */
function samples(): Float64Array[] {
  const random = new Random(1);
  const usual = Array.from({ length: 20 }, () => Float64Array.from(randomQuery(random)));
  const alone = [0, 1, 511].map((at) => new Float64Array(VECTOR_SIZE).with(at, -3));
  const sizes = [5e-324, 1e-300, 1e-40, 1e38, 1e300, Number.MAX_VALUE];
  return [
    ...usual,
    ...alone,
    new Float64Array(VECTOR_SIZE).fill(1),
    ...sizes.map((size) => Float64Array.from({ length: VECTOR_SIZE }, (_, i) => (i % 3 === 0 ? size : 0))),
  ];
}

const NO_VECTORS = [
  new Float64Array(VECTOR_SIZE),
  new Float64Array(VECTOR_SIZE).fill(-0),
  new Float64Array(VECTOR_SIZE).fill(1).with(511, Number.NaN),
  new Float64Array(VECTOR_SIZE).fill(1).with(0, Number.NEGATIVE_INFINITY),
];

test("numbers are converted to records", () => {
  for (const values of samples()) expectRecord(bench.vectorOf(values)!, [...values]);
  for (const values of NO_VECTORS) expect(bench.vectorOf(values)).toBeNull();
  const floats = randomQuery(new Random(2));
  expect(bench.vectorOf(floats)).toEqual(bench.vectorOf(Float64Array.from(floats)));
  expect(() => bench.vectorOf(floats.subarray(1))).toThrow("a vector has 512 numbers, not 511");
});

test("numbers are converted to queries", () => {
  for (const values of samples()) {
    const expected = plainRotation(unit([...values]));
    const got = bench.queryVector(values)!;
    expect(got.length).toBe(VECTOR_SIZE);
    for (const [i, number] of got.entries()) expect(Math.abs(number - expected[i]!)).toBeLessThan(1e-6);
  }
  for (const values of NO_VECTORS) expect(bench.queryVector(values)).toBeNull();
});

test("the cosine of a vector with itself as the query is nearly 1", () => {
  for (const values of samples()) {
    const [cosine] = tableCosines(bench, bench.queryVector(values)!, bench.vectorOf(values)!);
    expect(cosine).toBeGreaterThan(0.9999);
  }
});

test("cosines are exact", () => {
  const random = new Random(3);
  for (let round = 0; round < 20; round++) {
    const query = randomQuery(random);
    const vectors = Array.from({ length: round * 3 }, () => random.pick([null, randomVector(random)]));
    const cosines = tableCosines(bench, query, plainRecords(vectors));
    expect(cosines.length).toBe(vectors.length);
    for (const [i, vector] of vectors.entries()) {
      if (vector === null) expect(cosines[i]).toBeNaN();
      else {
        expect(cosines[i]).toBe(singleCosine(query, vector));
        expect(Math.abs(cosines[i]! - plainCosine(query, vector))).toBeLessThan(1e-6);
      }
    }
  }
  const extreme = new Float32Array(VECTOR_SIZE).fill(1 / Math.sqrt(VECTOR_SIZE));
  const all = [127, -127].map((number) => new Array<number>(VECTOR_SIZE).fill(number));
  expect([...tableCosines(bench, extreme, plainRecords(all))].map((x) => Math.round(x * 1e6))).toEqual([
    1e6, -1e6,
  ]);
});

test("documents carry vectors", () => {
  const values = randomQuery(new Random(4));
  const list = JSON.stringify([...values]);
  const record = bench.vectorOf(Float64Array.from(values))!;
  const of = (json: string): Uint8Array | null => bench.vectorOfJson(Buffer.from(json));
  expect(of(`{"id":"a","embedding":${list},"b":1}`)).toEqual(record);
  expect(of(` { "\\u0065mbedding" : ${list} } `)).toEqual(record);
  expect(of(`{"embedding":[1],"embedding":${list}}`)).toEqual(record);
  for (const json of [
    "{}",
    "[]",
    "",
    `{"embedding":${list}`,
    `{"embedding":${list}}x`,
    '{"embedding":null}',
    '{"embedding":"x"}',
    `{"embedding":${list},"embedding":null}`,
    `{"x":{"embedding":${list}}}`,
    `{"embedding":[${new Array(VECTOR_SIZE).fill("0")}]}`,
    `{"embedding":[${new Array(VECTOR_SIZE).fill("1e999")}]}`,
    `{"embedding":[${new Array(VECTOR_SIZE - 1).fill("1")}]}`,
    `{"embedding":[${new Array(VECTOR_SIZE + 1).fill("1")}]}`,
  ])
    expect(of(json), json).toBeNull();
});

test("a build returns the vectors of its rows", () => {
  const random = new Random(5);
  const schema = { fields: [], analysis: PLAIN_ANALYSIS };
  const json = Array.from({ length: 40 }, (_, i) => {
    const embedding = random.pick(["null", "[1]", JSON.stringify([...randomQuery(random)])]);
    return `{"id":"d${i}","embedding":${embedding}}`;
  });
  const documents = json.map((text, seq) => ({ seq, raw: Buffer.from(text) }));
  const { vectors, failures } = bench.build(schema, documents);
  const built = json.filter((_, i) => !failures.some(({ index }) => index === i));
  expect(failures.length).toBe(json.filter((text) => text.includes("[1]")).length);
  const expected = built.map((text) => bench.vectorOfJson(Buffer.from(text)) ?? new Uint8Array(VECTOR_BYTES));
  expect(Buffer.from(vectors!).equals(Buffer.concat(expected))).toBe(true);
  const without = documents.filter((_, i) => json[i]!.includes("null"));
  expect(bench.build(schema, without).vectors).toBeNull();
});
