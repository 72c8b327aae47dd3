// Random schemas, documents, writes and queries over a vocabulary small enough for words to collide; integers
// beyond 2^53, and empty, missing and wrong values.
import fc from "fast-check";
import type { Action } from "../oracle/engine.js";
import type { Query } from "../oracle/query.js";
import type { Document, Field, FieldType, Json, Schema } from "../oracle/segments/values.js";
import type { Settings } from "../oracle/settings.js";
import { type Change, changesOf } from "./curation-generators.js";
import { queryText, textOf, vocabulary } from "./vocabulary.js";

export type Write =
  | { kind: "batch"; action: Action; documents: Document[] }
  | { kind: "patch"; id: string; changes: { [name: string]: Json } }
  | { kind: "delete"; id: string }
  | { kind: "deleteWhere"; filter: string };

export interface Story {
  schema: Schema;
  settings: Partial<Settings>;
  writes: Write[];
  /** Changes to rules, synonyms and settings that are made between queries. */
  changes: Change[];
  queries: Query[];
}

const IDS = [...Array.from({ length: 24 }, (_, i) => `d${i}`), "with space", "é/ü", "😀", "`tick`", "a,b"];
const INT32 = [-2147483648, -7, -1, 0, 1, 2, 3, 10, 2147483647];
const INT64 = [-(2n ** 63n), -5n, 0n, 1n, 2n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
const FLOATS = [-1e300, -2.5, -0.1, 0, 0.1, 0.25, 1, 1.5, 3, 1e21];

type Values = Record<FieldType, fc.Arbitrary<Json>>;

/** Values of all types except text. */
export const NUMBERS: Omit<Values, "string" | "string[]"> = {
  int32: fc.constantFrom<Json>(...INT32),
  int64: fc.constantFrom<Json>(...INT64),
  float: fc.constantFrom<Json>(...FLOATS),
  bool: fc.boolean(),
  "int32[]": fc.array(fc.constantFrom<Json>(...INT32), { maxLength: 4 }),
  "float[]": fc.array(fc.constantFrom<Json>(...FLOATS), { maxLength: 4 }),
};

function valuesOf(words: fc.Arbitrary<string>): Values {
  const text = textOf(words);
  return {
    ...NUMBERS,
    string: fc.oneof(
      { weight: 4, arbitrary: text },
      { weight: 3, arbitrary: words },
      { weight: 1, arbitrary: fc.constant("") },
    ),
    "string[]": fc.array(fc.oneof(words, text), { maxLength: 4 }),
  };
}

/** Values that no field of the type accepts. */
const WRONG: Record<FieldType, Json[]> = {
  string: [1, true, ["x"]],
  int32: ["1", 1.5, 2147483648],
  int64: ["1", 0.5, 2n ** 63n],
  float: ["1.5", true],
  bool: [0, "true"],
  "string[]": ["x", [1], ["x", null]],
  "int32[]": [1, [1.5], ["1"]],
  "float[]": [1, ["x"], [[1]]],
};

const schema: fc.Arbitrary<Schema> = fc
  .record({
    facets: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
    sortText: fc.boolean(),
    strict: fc.boolean(),
    infixes: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    languages: fc.array(fc.constantFrom(undefined, undefined, "en", "de"), { minLength: 3, maxLength: 3 }),
    fallback: fc.constantFrom(undefined, "i", "l", "f"),
  })
  .map(({ facets, sortText, strict, infixes, languages, fallback }) => {
    const types: [string, FieldType][] = [
      ["t", "string"],
      ["s", "string"],
      ["i", "int32"],
      ["l", "int64"],
      ["f", "float"],
      ["b", "bool"],
      ["ss", "string[]"],
      ["ii", "int32[]"],
      ["ff", "float[]"],
    ];
    const fields: Field[] = types.map(([name, type], i) => ({ name, type, facet: facets[i]! }));
    fields[1]!.sort = sortText;
    for (const [i, place] of [0, 1, 6].entries()) {
      fields[place]!.infix = infixes[i]!;
      if (languages[i] !== undefined) fields[place]!.language = languages[i];
    }
    if (strict) fields[5]!.optional = false;
    if (fallback === undefined) return { fields };
    return { fields, default_sorting_field: fallback };
  });

const settings: fc.Arbitrary<Partial<Settings>> = fc
  .record(
    {
      prefix: fc.boolean(),
      num_typos: fc.integer({ min: 0, max: 4 }),
      min_len_1typo: fc.integer({ min: 1, max: 5 }),
      min_len_2typo: fc.integer({ min: 5, max: 9 }),
      typo_on_numbers: fc.boolean(),
      typo_policy: fc.constantFrom("auto", "always", "missing"),
      stop_words: fc.subarray(["a", "red", "CAFE", "wi-fi"]),
      drop_tokens_threshold: fc.constantFrom(0, 1, 3, 10),
      searching: fc.constantFrom<Partial<Settings>>(
        {},
        { searchable_attributes: ["s", "t"] },
        { searchable_attributes: ["ss", "t"], weights: [3, 0.5] },
      ),
      token_separators: fc.subarray(["e", "ü", "."]),
      symbols_to_index: fc.subarray(["-", "_", "/", "😀"]),
      language: fc.constantFrom(null, "en", "de"),
      sku_fields: fc.subarray(["t", "s", "ss"]),
      brand_field: fc.constantFrom(null, "t", "s", "ss"),
    },
    { requiredKeys: [] },
  )
  .map(({ searching, ...rest }) => ({ ...rest, ...searching }));

function members(fields: Field[], values: Values, present: number): fc.Arbitrary<{ [name: string]: Json }> {
  const parts = fields.map((field) =>
    fc.oneof(
      {
        weight: present,
        arbitrary: values[field.type].map((value): [string, Json][] => [[field.name, value]]),
      },
      { weight: 15, arbitrary: fc.constant<[string, Json][]>([]) },
      { weight: 4, arbitrary: fc.constant<[string, Json][]>([[field.name, null]]) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(...WRONG[field.type])
          .map((value): [string, Json][] => [[field.name, value]]),
      },
    ),
  );
  const extra = fc.oneof(
    { weight: 5, arbitrary: fc.constant<[string, Json][]>([]) },
    { weight: 1, arbitrary: fc.constant<[string, Json][]>([["undeclared", { deep: [1, "x", null] }]]) },
  );
  return fc.tuple(extra, ...parts).map((lists) => Object.fromEntries(lists.flat()));
}

function documents(fields: Field[], values: Values, present: number): fc.Arbitrary<Document[]> {
  const one = fc
    .tuple(fc.constantFrom(...IDS), members(fields, values, present))
    .map(([id, rest]): Document => ({ id, ...rest }));
  return fc.array(one, { minLength: 1, maxLength: 14, size: "max" });
}

function write(shape: Schema, words: fc.Arbitrary<string>): fc.Arbitrary<Write> {
  const values = valuesOf(words);
  const batch = (action: Action, present: number): fc.Arbitrary<Write> =>
    documents(shape.fields, values, present).map((list) => ({ kind: "batch", action, documents: list }));
  const id = fc.constantFrom(...IDS);
  return fc.oneof(
    { weight: 6, arbitrary: batch("upsert", 80) },
    { weight: 1, arbitrary: batch("create", 80) },
    { weight: 2, arbitrary: batch("update", 10) },
    { weight: 2, arbitrary: batch("emplace", 20) },
    {
      weight: 1,
      arbitrary: fc
        .uniqueArray(id, { minLength: 1, maxLength: 5 })
        .map(
          (ids): Write => ({ kind: "batch", action: "delete", documents: ids.map((one) => ({ id: one })) }),
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(id, members(shape.fields, values, 10))
        .map(([one, changes]): Write => ({ kind: "patch", id: one, changes })),
    },
    { weight: 1, arbitrary: id.map((one): Write => ({ kind: "delete", id: one })) },
    {
      weight: 1,
      arbitrary: filter(shape.fields, words, 0).map((text): Write => ({ kind: "deleteWhere", filter: text })),
    },
  );
}

/** A filter expression with up to `depth` levels of groups. */
function filter(fields: Field[], words: fc.Arbitrary<string>, depth: number): fc.Arbitrary<string> {
  const clause = fc.oneof(
    ...fields.map((field) => clauseOf(field, words)),
    fc.constantFrom(...IDS).map((id) => `id:=\`${id.replaceAll("`", "``")}\``),
  );
  if (depth === 0) return clause;
  const inner = filter(fields, words, depth - 1);
  const joined = fc.array(inner, { minLength: 2, maxLength: 3 });
  return fc.oneof(
    { weight: 3, arbitrary: clause },
    { weight: 1, arbitrary: joined.map((parts) => parts.join(" && ")) },
    { weight: 1, arbitrary: joined.map((parts) => parts.join("||")) },
    { weight: 1, arbitrary: inner.map((part) => `( ${part})`) },
  );
}

function clauseOf(field: Field, words: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const equality = fc.constantFrom(":", ":=", ":!=");
  if (field.type.startsWith("string")) {
    const value = fc.oneof(words, textOf(words)).map((wanted) => `\`${wanted}\``);
    const bare = fc.constantFrom("red", "shirt", "CAFE", "東", "москва", "abc123").map((wanted) => wanted);
    const one = fc.oneof(value, bare);
    const list = fc.array(one, { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(", ")}]`);
    return fc
      .tuple(equality, fc.oneof(one, list))
      .map(([operator, wanted]) => `${field.name}${operator}${wanted}`);
  }
  if (field.type === "bool") {
    return fc.tuple(equality, fc.boolean()).map(([operator, wanted]) => `${field.name}${operator}${wanted}`);
  }
  const pool = field.type.startsWith("int32") ? INT32 : field.type === "int64" ? INT64 : FLOATS;
  const number = fc.constantFrom<number | bigint>(...pool).map((value) => printNumber(value));
  const range = fc.tuple(number, number).map(([low, high]) => `${low}..${high}`);
  const comparison = fc
    .tuple(fc.constantFrom(">", "<", ">=", "<="), number)
    .map(([sign, value]) => `${sign}${value}`);
  const list = fc
    .array(fc.oneof(number, range, comparison), { minLength: 1, maxLength: 3 })
    .map((items) => `[${items.join(",")}]`);
  return fc.oneof(
    fc.tuple(equality, number).map(([operator, value]) => `${field.name}${operator}${value}`),
    comparison.map((wanted) => `${field.name}:${wanted}`),
    fc.tuple(equality, list).map(([operator, wanted]) => `${field.name}${operator}${wanted}`),
  );
}

/** Prints a number without the plus sign of its exponent; a bigint has no exponent. */
function printNumber(value: number | bigint): string {
  return String(value).replace("e+", "e");
}

function maybe<T>(arbitrary: fc.Arbitrary<T>, weight = 1): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight, arbitrary });
}

function nativeFilters(fields: Field[], values: Values): fc.Arbitrary<Record<string, Json>> {
  const scalars = fields.filter((field) => !field.type.startsWith("float"));
  const clause = fc.constantFrom(...scalars).chain((field) => {
    const value = field.type.endsWith("[]")
      ? values[field.type.slice(0, -2) as FieldType]
      : values[field.type];
    const wire = value.map((one): Json => (typeof one === "bigint" ? one.toString() : one));
    return fc.tuple(fc.constant(field.name), fc.oneof(wire, fc.array(wire, { minLength: 1, maxLength: 3 })));
  });
  return fc.array(clause, { minLength: 1, maxLength: 2 }).map((entries) => Object.fromEntries(entries));
}

/** A query with random parameters over the schema's fields. */
export function query(shape: Schema, words: fc.Arbitrary<string>): fc.Arbitrary<Query> {
  const { fields } = shape;
  const searchable = fields.filter((field) => field.type.startsWith("string")).map((field) => field.name);
  const sortable = fields.filter(
    (field) => !field.type.endsWith("[]") && (field.type !== "string" || field.sort === true),
  );
  const sortKeys = fc
    .uniqueArray(fc.constantFrom("_text_match", ...sortable.map((field) => field.name)), {
      minLength: 1,
      maxLength: 3,
    })
    .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(`${name}:asc`, `${name}:desc`))))
    .map((keys) => keys.join(","));
  return fc
    .record({
      q: queryText(words),
      query_by: maybe(fc.shuffledSubarray(searchable, { minLength: 1 }).map((names) => names.join(","))),
      weights: maybe(fc.array(fc.constantFrom(1, 2, 5, 0.5), { minLength: 3, maxLength: 3 })),
      filter_by: maybe(filter(fields, words, 2)),
      filters: maybe(nativeFilters(fields, valuesOf(words))),
      facet_by: maybe(
        fc
          .subarray(
            fields.map((field) => field.name),
            { minLength: 1 },
          )
          .map((names) => names.join(",")),
        3,
      ),
      max_facet_values: maybe(fc.constantFrom(1, 2, 3, 5, 100)),
      sort_by: maybe(sortKeys),
      per_page: maybe(fc.constantFrom(0, 1, 2, 3, 5, 50), 2),
      page: maybe(fc.integer({ min: 1, max: 4 })),
      prefix: maybe(fc.boolean()),
      num_typos: maybe(fc.integer({ min: 0, max: 4 })),
    })
    .map(({ weights, ...rest }) => {
      const count = rest.query_by?.split(",").length ?? 0;
      const query_by_weights = count === 0 ? undefined : weights?.slice(0, count).join(",");
      const given = Object.entries({ ...rest, query_by_weights }).filter(([, value]) => value !== undefined);
      return Object.fromEntries(given) as unknown as Query;
    });
}

export function story(writesMax: number, changesMax: number, queriesMax: number): fc.Arbitrary<Story> {
  return fc.tuple(schema, vocabulary).chain(([shape, chosen]) => {
    const words = fc.constantFrom(...chosen);
    const changes = changesOf(chosen, filter(shape.fields, words, 1), fc.constantFrom(...IDS.slice(0, 10)));
    return fc.record({
      schema: fc.constant(shape),
      settings: fc.oneof({ weight: 1, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: settings }),
      writes: fc.array(write(shape, words), { minLength: 1, maxLength: writesMax, size: "max" }),
      changes: fc.array(changes, { maxLength: changesMax, size: "max" }),
      queries: fc.array(query(shape, words), { minLength: 1, maxLength: queriesMax, size: "max" }),
    });
  });
}
