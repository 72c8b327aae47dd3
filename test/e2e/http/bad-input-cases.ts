// The test cases for bad-input.test.ts as data: malformed bodies, parameters and filter expressions, and
// requests for missing resources.
import { ADMIN_KEY, type CallOptions } from "../world/harness.js";

/** `open` repeated `depth` times, then `close` repeated `depth` times. */
export const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth);
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** Bodies that are not a valid JSON object on any route. */
export const BROKEN_BODIES: [string, string | Uint8Array][] = [
  ["nothing", ""],
  ["an open brace", "{"],
  ["an array", "[1]"],
  ["null", "null"],
  ["a string", '"q"'],
  ["a number", "12"],
  ["a cut string", '{"q":"abc'],
  ["a trailing comma", '{"q":"a",}'],
  ["two values", '{"q":"a"} {"q":"b"}'],
  ["a single quote", "{'q':'a'}"],
  ["NaN", '{"q":"a","page":NaN}'],
  ["a leading zero", '{"q":"a","page":01}'],
  ["a raw control character", '{"q":"a\u0001b"}'],
  ["wrong UTF-8", bytes('{"q":"', [0xc3, 0x28], '"}')],
  ["overlong UTF-8", bytes('{"q":"', [0xc0, 0xaf], '"}')],
  ["a UTF-8 surrogate", bytes('{"q":"', [0xed, 0xa0, 0x80], '"}')],
  ["UTF-16", Buffer.from('{"q":"a"}', "utf16le")],
  ["deep arrays", `{"q":${nested(100_000, "[", "]")}}`],
  ["deep objects", `{"q":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`],
  ["open arrays only", "[".repeat(200_000)],
  ["zero bytes", "\0\0\0\0"],
];

export const WRONG_PARAMETERS: [string, unknown][] = [
  ["q", undefined],
  ["q", 7],
  ["q", null],
  ["q", ["a"]],
  ["query_by", 5],
  ["query_by", ["title"]],
  ["query_by", "nothing_of_this_name"],
  ["query_by", "price"],
  ["query_by_weights", 3],
  ["query_by_weights", "a,b"],
  ["search_mode", "fast"],
  ["vector", "1,2"],
  ["vector", [1, 2]],
  ["vector", new Array(512).fill("1")],
  ["vector", new Array(512).fill(1)],
  ["search_mode", 1],
  ["filters", "brand:a"],
  ["filters", [1]],
  ["filters", { no_such_field: "a" }],
  ["filters", { price: "cheap" }],
  ["filters", { price: { deep: 1 } }],
  ["filter_by", 12],
  ["filter_by", { brand: "a" }],
  ["facets", "brand"],
  ["facets", [1]],
  ["facet_by", ["brand"]],
  ["max_facet_values", "ten"],
  ["max_facet_values", 1.5],
  ["sort", 1],
  ["sort", "price"],
  ["sort", "price:sideways"],
  ["sort_by", "nothing:asc"],
  ["sort_by", "tags:asc"],
  ["sort_by", ["price:asc"]],
  ["per_page", "10"],
  ["per_page", 2.5],
  ["page", "1"],
  ["page", null],
  ["prefix", "yes"],
  ["prefix", 1],
  ["num_typos", "2"],
  ["num_typos", []],
  ["highlight_fields", ["title"]],
  ["fields", "title"],
  ["fields", [7]],
  ["exclude_fields", "title"],
];

/**
 * Filter expressions, each with the character position of its error. The reported position may be off by at
 * most one token.
 */
export const WRONG_FILTERS: [string, number][] = [
  ["", 0],
  ["brand", 5],
  ["brand:", 6],
  ["brand:=a &&", 11],
  ["brand:=a && ", 12],
  ["&& brand:=a", 0],
  ["brand:=a || || price:>1", 12],
  ["(brand:=a", 9],
  ["brand:=a)", 8],
  ["((brand:=a)", 11],
  ["nothing:=a", 0],
  ["brand:=`open", 12],
  ["brand:[a, b", 11],
  ["brand:[]", 7],
  ["price:>abc", 7],
  ["price:>", 7],
  ["stock:=1.5", 7],
  ["price:[1..", 10],
  ["price:[a..b]", 7],
  ["brand:[a..b]", 7],
  ["sale:=maybe", 6],
  ["sale:>true", 5],
  ["brand:>a", 6],
  ["price:=NaN", 7],
  ["price:=1e999", 7],
];

/** Requests for missing resources, and requests without permission. */
export const REFUSED_REQUESTS: [
  what: string,
  status: number,
  method: string,
  path: string,
  options?: CallOptions,
][] = [
  ["a route that does not exist is 404", 404, "GET", "/v1/nothing"],
  ["an index that does not exist is 404", 404, "GET", "/v1/indexes/nope"],
  ["a query of such an index is 404", 404, "POST", "/v1/indexes/nope/query", { body: { q: "a" } }],
  ["a document that does not exist is 404", 404, "GET", "/v1/indexes/things/documents/absent"],
  ["a method that the route does not have is 405", 405, "PUT", "/v1/indexes", { body: "{}" }],
  ["no key is 401", 401, "GET", "/v1/indexes", { key: null }],
  ["an unknown key is 401", 401, "GET", "/v1/indexes", { key: "wrong" }],
  [
    "a key of another scheme is 401",
    401,
    "GET",
    "/v1/indexes",
    { key: null, headers: { authorization: `Basic ${ADMIN_KEY}` } },
  ],
  [
    "a query that is not sent as JSON is 415",
    415,
    "POST",
    "/v1/indexes/things/query",
    { body: '{"q":"a"}', headers: { "content-type": "text/plain" } },
  ],
];
