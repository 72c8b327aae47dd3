// Values that fit, or nearly fit, a schema in the OpenAPI document. The server may still refuse their
// contents.
import fc, { type Arbitrary } from "fast-check";
import type { Random } from "../../../bench/random.js";
import { documentWords, GOOD_WORDS, type Voice, wordsFor } from "./dictionary.js";
import { type OpenApi, resolved, type Schema } from "./operations.js";

const DEPTH_MAX = 6;
const INTEGERS = [
  0,
  1,
  -1,
  2,
  50,
  250,
  251,
  1000,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
];
const NUMBERS = [
  0,
  -0,
  0.5,
  1e-320,
  1e21,
  1e300,
  -1e300,
  Number.MIN_VALUE,
  Number.MAX_VALUE,
  0.1 + 0.2,
  ...INTEGERS,
];
const TEXTS = [
  "",
  " ",
  "\0",
  "\u0000int:1234567890123456",
  "a\nb",
  "\ufeff",
  "\u202egnp.exe",
  "e\u0301\u0301\u0301",
  "\ud83d",
  "ＡＢ",
  "ß",
  "İ",
  "\uffff",
  "'; --",
  "../../etc/passwd",
  "__proto__",
  "%00",
  "-1",
  "1e5",
  "null",
  "`",
];
const LONG = [200, 201, 300, 5_000, 33_000];

const anyText = fc.string({ unit: "binary", maxLength: 24 });
const anyName = fc.string({ unit: "grapheme", maxLength: 12 });
const anyJson = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const anyDouble = fc.double();
const anyInteger = fc.maxSafeInteger();

/** Generates a value with a fast-check arbitrary; the same state of `random` gives the same value. */
export function sampled<T>(random: Random, arbitrary: Arbitrary<T>): T {
  return fc.sample(arbitrary, { seed: random.below(2 ** 31), numRuns: 1 })[0]!;
}

export function chance(random: Random, oneIn: number): boolean {
  return random.below(oneIn) === 0;
}

export function oddText(random: Random): string {
  const kind = random.below(12);
  if (kind < 5) return random.pick(TEXTS);
  if (kind < 6) return random.pick(["x", "é", "\u{1f45f}", "[", "("]).repeat(random.pick(LONG));
  return sampled(random, kind < 9 ? anyText : anyName);
}

/** Encodes a value for a path or query; an unpaired surrogate becomes U+FFFD. */
export function percentEncoded(value: unknown): string {
  return encodeURIComponent(Buffer.from(String(value)).toString("utf8"));
}

export function oddNumber(random: Random): number {
  const kind = random.below(6);
  if (kind < 4) return random.pick(NUMBERS);
  return sampled(random, kind < 5 ? anyDouble : anyInteger);
}

export function anyValue(random: Random): unknown {
  const kind = random.below(8);
  if (kind < 2) return oddText(random);
  if (kind < 4) return oddNumber(random);
  if (kind < 6) return random.pick<unknown>([null, true, false, [], {}, [null], [[]], { a: 1 }]);
  return sampled(random, anyJson);
}

/** Generates the values in one request. In careful mode, numbers are in range and texts are ordinary. */
export class Values {
  constructor(
    private readonly random: Random,
    private readonly document: OpenApi,
    private readonly voice: Voice,
    private readonly careful: boolean,
  ) {}

  /** Returns a value of the schema's type. `name` is the member that receives it. */
  of(given: Schema, name: string, depth = 0): unknown {
    const { random } = this;
    const schema = resolved(given, this.document);
    const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
    if (choices !== undefined) return this.of(random.pick(choices), name, depth);
    if ("const" in schema) return schema.const;
    if (Array.isArray(schema.enum)) return random.pick(schema.enum as readonly unknown[]);
    const types = [schema.type ?? []].flat() as string[];
    const type = types.length === 0 || depth > DEPTH_MAX ? "" : random.pick(types);
    if (type === "null" && !chance(random, 3)) return this.of({ ...schema, type: types[0] }, name, depth);
    switch (type) {
      case "object":
        return this.#object(schema, name, depth);
      case "array":
        return this.#array(schema, name, depth);
      case "string":
        return this.#text(name);
      case "integer":
        return this.#number(schema, true);
      case "number":
        return this.#number(schema, false);
      case "boolean":
        return chance(random, 2);
      case "null":
        return null;
      default:
        return this.#untyped(name);
    }
  }

  #object(schema: Schema, name: string, depth: number): unknown {
    const { random } = this;
    const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
    const required = (schema.required ?? []) as readonly string[];
    const names = Object.keys(properties);
    if (names.length === 0) return this.#map(schema.additionalProperties, name, depth);
    const oneIn = this.careful ? Math.max(2, Math.ceil(names.length / 3)) : random.pick([1, 2, 4, 8]);
    const chosen = names.filter((member) => required.includes(member) || chance(random, oneIn));
    return Object.fromEntries(
      chosen.map((member) => [member, this.of(properties[member]!, member, depth + 1)]),
    );
  }

  /** An object whose members are not listed in the OpenAPI document: filters, documents, maps of fields. */
  #map(values: unknown, name: string, depth: number): unknown {
    const { random } = this;
    if (typeof values !== "object" && name !== "filters") {
      const { id, ...members } = this.#document();
      return chance(random, 4) ? { id, ...members } : members;
    }
    const fields = (wordsFor("fields", this.voice) ?? []) as readonly string[];
    const schema = typeof values === "object" && values !== null ? (values as Schema) : {};
    const entries = Array.from({ length: random.below(3) }, () => [
      random.pick(fields),
      this.of(schema, "value", depth + 1),
    ]);
    return Object.fromEntries(entries);
  }

  #array(schema: Schema, name: string, depth: number): unknown[] {
    const { random } = this;
    const [least, most] = [(schema.minItems as number) ?? 0, (schema.maxItems as number) ?? Infinity];
    const length = Math.min(most, Math.max(least, random.pick([0, 1, 1, 2, 3, 5, 20])));
    if (least > 100) return Array.from({ length }, (_, i) => (i % 7) - random.below(2));
    return Array.from({ length }, () => this.of((schema.items ?? {}) as Schema, name, depth + 1));
  }

  #document(): Record<string, unknown> {
    const words = documentWords(this.voice);
    return this.random.pick(this.careful ? words.slice(0, GOOD_WORDS) : words);
  }

  #text(name: string): unknown {
    const words = wordsFor(name, this.voice);
    if (words !== null && this.careful) return this.random.pick(words.slice(0, GOOD_WORDS));
    if (words !== null && !chance(this.random, 8)) return this.random.pick(words);
    return !this.careful && chance(this.random, 4) ? oddText(this.random) : `${this.voice.word} text`;
  }

  #number({ minimum, maximum, exclusiveMinimum }: Schema, whole: boolean): number {
    const { random } = this;
    const low = Number(minimum ?? exclusiveMinimum ?? -3);
    const high = Number(maximum ?? low + 300);
    const kind = this.careful ? 6 : random.below(6);
    if (kind === 0) return random.pick([low - 1, low, high, high + 1]);
    if (kind === 1) return oddNumber(random);
    const number = low + random.next() * Math.min(high - low, 40);
    return whole ? Math.round(number) : number;
  }

  /**
   * For members whose type is not in the OpenAPI document: a batch's documents, a multi-search's searches.
   */
  #untyped(name: string): unknown {
    const { random } = this;
    if (!this.careful && chance(random, 12)) return anyValue(random);
    if (name === "documents") return chance(random, 6) ? this.#text(name) : this.#document();
    if (name !== "searches") return random.pick<unknown>(["acme", 3, true, ["acme", "t1"], 2.5, null]);
    const query = this.of(this.document.components.schemas.Query ?? {}, "query", 1) as object;
    return { ...query, index: random.pick(this.voice.indexes) };
  }
}
