// Bodies read by their scans: which ones are, what becomes of them, and that the full reading always agrees.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { type BodyScan, scanBody } from "../../../../../server/question/request/body-scan.js";
import { PreparedShapes } from "../../../../../server/question/request/prepared-shapes.js";
import { type QueryRequest, readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { makeRecord, queried } from "../../record.js";
import { BodyTwin } from "./body-twin.js";

const INDEX = queried(makeRecord());

function scanned(text: string): BodyScan {
  const scan = scanBody(Buffer.from(text));
  if (scan === null) throw new Error(`not scanned: ${text}`);
  return scan;
}

/** Reads the second body by the spelling of the first one. */
function readLike(first: string, second: string, index = INDEX, within = ""): QueryRequest | null {
  const shapes = new PreparedShapes(DEFAULT_LIMITS);
  const request = readQueryRequest(JSON.parse(first), INDEX, DEFAULT_LIMITS);
  shapes.remember(scanned(first), INDEX, "", request);
  return shapes.read(scanned(second), index, within);
}

describe("a body spelled like an earlier one", () => {
  it("is read with its own text, page and filter, and shares the shape", () => {
    const shapes = new PreparedShapes(DEFAULT_LIMITS);
    const body = (q: string, filter: string, page: number): string =>
      `{"q": "${q}", "facets": ["brand"], "filter_by": "${filter}", "per_page": 5, "page": ${page}}`;
    const first = body("red", "price:>5", 1);
    const request = readQueryRequest(JSON.parse(first), INDEX, DEFAULT_LIMITS);
    shapes.remember(scanned(first), INDEX, "", request);
    const other = body('\\"grün\\" *', "brand:=a", 3);
    const read = shapes.read(scanned(other), INDEX, "");
    expect(read).toEqual(readQueryRequest(JSON.parse(other), INDEX, DEFAULT_LIMITS));
    expect(read).toMatchObject({ q: '"grün" *', page: 3, perPage: 5 });
    expect(read?.shape).toBe(request.shape);
    const again = shapes.read(scanned(body("blue", "brand:=a", 1)), INDEX, "");
    expect(again?.filter).toBe(read?.filter);
  });

  it.each([
    ["another member", '{"q":"a","page":1}', '{"q":"a","per_page":1}'],
    ["other white space", '{"q":"a"}', '{"q": "a"}'],
    ["another order", '{"q":"a","page":1}', '{"page":1,"q":"a"}'],
    ["another value", '{"q":"a","sort":"price:asc"}', '{"q":"a","sort":"price:desc"}'],
    ["a text that is too long", '{"q":"a"}', `{"q":"${"a".repeat(5_000)}"}`],
    ["an unpaired surrogate", '{"q":"a"}', '{"q":"\\ud800"}'],
    ["a long filter", '{"q":"a","filter_by":""}', `{"q":"a","filter_by":"price:${"1".repeat(2_000)}"}`],
  ])("is not one with %s", (_, first, second) => {
    expect(readLike(first, second)).toBeNull();
  });

  it("belongs to the index's state and to the filter of the token", () => {
    const body = '{"q":"a"}';
    expect(readLike(body, body)).not.toBeNull();
    expect(readLike(body, body, { ...INDEX, state: INDEX.state + 1 })).toBeNull();
    expect(readLike(body, body, INDEX, "price:>5")).toBeNull();
  });

  it("belongs to the latest state in which the body was read", () => {
    const body = '{"q":"a"}';
    const shapes = new PreparedShapes(DEFAULT_LIMITS);
    const request = readQueryRequest(JSON.parse(body), INDEX, DEFAULT_LIMITS);
    const later = { ...INDEX, state: INDEX.state + 1 };
    shapes.remember(scanned(body), INDEX, "", request);
    shapes.remember(scanned(body), later, "", request);
    expect(shapes.read(scanned(body), INDEX, "")).toBeNull();
    expect(shapes.read(scanned(body), later, "")).not.toBeNull();
  });

  it("is remembered for each token's filter", () => {
    const body = '{"q":"a"}';
    const shapes = new PreparedShapes(DEFAULT_LIMITS);
    const request = readQueryRequest(JSON.parse(body), INDEX, DEFAULT_LIMITS);
    for (const within of ["price:>5", "price:>6"]) shapes.remember(scanned(body), INDEX, within, request);
    for (const within of ["price:>5", "price:>6"])
      expect(shapes.read(scanned(body), INDEX, within)).not.toBeNull();
  });

  it("is not remembered if its filter is long", () => {
    const long = `{"q":"a","filter_by":"${" ".repeat(2_000)}"}`;
    expect(readLike(long, '{"q":"a","filter_by":""}')).toBeNull();
  });

  it("is refused like any other if its filter is wrong", () => {
    const read = (): unknown => readLike('{"q":"a","filter_by":""}', '{"q":"a","filter_by":"nope:1"}');
    expect(read).toThrow("unknown field 'nope'");
  });
});

describe("a body's scan", () => {
  it.each([
    "",
    "{}",
    "[]",
    '{"q":"a"',
    '{"q":"a"} x',
    '{"q":"a",}',
    '\ufeff{"q":"a"}',
    '{"q":1}',
    '{"q":"a","q":"b"}',
    '{"q":"a","\\u0071":"b"}',
    '{"q":"a","page":-1}',
    '{"q":"a","page":01}',
    '{"q":"a","page":1.0}',
    '{"q":"a","page":12345678901}',
    '{"q":"a","filters":{},"filter_by":""}',
    '{"q":"a","analytics":"false"}',
    '{"q":"a","user_id":"\\u0061"}',
    `{"q":"a","x":${"[".repeat(20)}${"]".repeat(20)}}`,
  ])("gives up on %j", (text) => {
    expect(scanBody(Buffer.from(text))).toBeNull();
  });

  it("gives up on bytes that are not UTF-8", () => {
    expect(scanBody(Buffer.from('{"q":"\xff"}', "latin1"))).toBeNull();
  });

  it("knows who asks, and the body without them", () => {
    const scan = scanned('{"user_id":"ann","q":"a","analytics":false,"session_id":"é"}');
    expect(scan.askedBy).toEqual({ user: "ann", session: "é", logged: false });
    expect(Buffer.from(scan.anonymous).toString()).toBe(
      '{"user_id":"","q":"a","analytics":false,"session_id":""}',
    );
  });
});

/** Pieces of bodies: members with a value that varies, and members that stay the same. */
const TEXT = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"*"', '"\\ud800"', '"\\u0000int:1234567890123456789"', '"\\x"', "7", "null"),
);
const NUMBER = fc.oneof(
  fc.nat({ max: 300 }).map(String),
  fc.constantFrom("-0", "-1", "1.0", "1e2", "01", "1e999", "12345678901234567890", "true"),
);
const VARIED = fc.oneof(
  fc.tuple(
    fc.constantFrom("q", "user_id", "session_id", "filter_by"),
    fc.array(TEXT, { minLength: 3, maxLength: 3 }),
  ),
  fc.tuple(fc.constantFrom("page", "per_page"), fc.array(NUMBER, { minLength: 3, maxLength: 3 })),
  fc.tuple(
    fc.constant("filters"),
    fc.array(
      fc.json({ maxDepth: 2 }).map((value) => `{"brand":${value}}`),
      { minLength: 3, maxLength: 3 },
    ),
  ),
);
const FIXED = fc
  .tuple(
    fc.constantFrom("sort", "x", "__proto__", "q", "analytics"),
    fc.json({ maxDepth: 3, noUnicodeString: false }),
  )
  .map(([name, value]): [string, string[]] => [name, [value, value, value]]);
const SPACE = fc.constantFrom("", "", "", "", " ", "\n\t\r", "\u00a0");
const BODIES = fc
  .record({
    q: fc.array(TEXT, { minLength: 3, maxLength: 3 }),
    others: fc.array(fc.oneof(VARIED, FIXED), { maxLength: 4 }),
    spaces: fc.array(SPACE, { minLength: 6, maxLength: 6 }),
    place: fc.nat({ max: 4 }),
  })
  .map(({ q, others, spaces, place }) => {
    const members = [...others];
    members.splice(place, 0, ["q", q]);
    return q.map((_, n) => {
      const written = members.map(
        ([name, values], i) => `"${name}"${spaces[i]!}:${values[n]!}${spaces[(i + 1) % 6]!}`,
      );
      return `{${spaces[0]!}${written.join(",")}}`;
    });
  });

test("both readings of any body agree, whatever was read before", () => {
  fc.assert(
    fc.property(BODIES, fc.constantFrom("", "price:>5"), (bodies, within) => {
      const twin = new BodyTwin(within);
      for (const body of bodies) expect(twin.disagreement(Buffer.from(body))).toBeNull();
    }),
    { numRuns: 400 },
  );
});

test("a reading that disagrees is noticed", () => {
  const twin = new BodyTwin("", false, { ...DEFAULT_LIMITS, pageDocumentsMax: 5 });
  expect(twin.disagreement(Buffer.from('{"q":"a","per_page":1}'))).toBeNull();
  expect(twin.disagreement(Buffer.from('{"q":"a","per_page":9}'))).toContain("instead of");
});
