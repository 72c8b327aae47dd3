// Readers of untrusted JSON values. A reader checks one value, and describes the values that it accepts for
// the OpenAPI document. It refuses an invalid value with a one-sentence message: "per_page must be an
// integer, not "10"". A reader does not know the name of the member that it reads.
import { type ErrorCode, SkeinError } from "../errors.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { describe, isObject, type JsonObject, kindOf } from "./json-value.js";

/** A JSON schema for the OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What the readers of one body need: the limits in effect, and the error code for refusals. */
export interface InputRules {
  readonly limits: Limits;
  readonly code: ErrorCode;
  /** True inside a secret value. Error messages then do not show the value. */
  readonly secret?: true;
}

/** A number, or the name of a configurable limit. */
export type Bound = number | keyof Limits;

export interface ValueReader<T> {
  /** The expected value, for error messages: "an integer from 0 to 4". */
  readonly takes: string;
  readonly schema: JsonSchema;
  /** Schema of a request that changes an object. Only object readers have it. */
  readonly changeSchema?: JsonSchema;
  /** Schema of the value in a reply. Only readers of objects and of lists of objects have it. */
  readonly completeSchema?: JsonSchema;
  /**
   * Returns the checked value. `path` is the value's place in the body, for error messages:
   * "schema.fields[2].name". `present` is the object that the value changes; only object readers use it.
   * Throws a SkeinError with the code in `rules`.
   */
  read(value: unknown, path: string, rules: InputRules, present?: object): T;
}

export function refuse(path: string, why: string, rules: Pick<InputRules, "code">): never {
  throw new SkeinError(rules.code, `${path} ${why}`);
}

export function wrongType(path: string, expected: string, value: unknown, rules: InputRules): never {
  const came = rules.secret === true ? kindOf(value) : describe(value);
  throw new SkeinError(rules.code, `${path} must be ${expected}, not ${came}`, {
    details: { parameter: path, expected },
  });
}

function numberOf(bound: Bound, rules: InputRules): number {
  return typeof bound === "number" ? bound : rules.limits[bound];
}

/**
 * Formats a bound for the OpenAPI document. A configurable limit is shown with its default, because the
 * document does not depend on the configuration.
 */
function shown(bound: Bound): string {
  return typeof bound === "number" ? String(bound) : `${DEFAULT_LIMITS[bound]} (limits.${bound})`;
}

/** A string of well-formed Unicode with at most `bytesMax` bytes. */
export function text(bytesMax: Bound = Infinity, takes = "a string"): ValueReader<string> {
  return {
    takes,
    schema: { type: "string" },
    read(value, path, rules) {
      if (typeof value !== "string") return wrongType(path, takes, value, rules);
      if (/\p{Surrogate}/u.test(value))
        refuse(path, "must be well-formed Unicode; it has an unpaired surrogate", rules);
      const most = numberOf(bytesMax, rules);
      if (Buffer.byteLength(value) > most) refuse(path, `is longer than ${most} bytes`, rules);
      return value;
    },
  };
}

export function flag(): ValueReader<boolean> {
  const takes = "true or false";
  return {
    takes,
    schema: { type: "boolean" },
    read: (value, path, rules) => (typeof value === "boolean" ? value : wrongType(path, takes, value, rules)),
  };
}

export function integer(minimum: number, maximum: number): ValueReader<number> {
  const takes = `an integer from ${minimum} to ${maximum}`;
  return {
    takes,
    schema: { type: "integer", minimum, maximum },
    read(value, path, rules) {
      if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum)
        return value;
      return wrongType(path, takes, value, rules);
    },
  };
}

/** An integer; one outside the range is clamped to it. */
export function clamped(low: number, high: Bound): ValueReader<number> {
  const takes = "an integer";
  return {
    takes,
    schema: { type: "integer", description: `Clamped to ${low}..${shown(high)}.` },
    read(value, path, rules) {
      const given = typeof value === "bigint" ? Number(value) : value;
      if (typeof given !== "number" || !Number.isInteger(given)) return wrongType(path, takes, value, rules);
      return Math.max(low, Math.min(numberOf(high, rules), given));
    },
  };
}

export function numberAboveZero(maximum: number): ValueReader<number> {
  const takes = `a number above 0 and up to ${maximum}`;
  return {
    takes,
    schema: { type: "number", exclusiveMinimum: 0, maximum },
    read: (value, path, rules) =>
      typeof value === "number" && value > 0 && value <= maximum
        ? value
        : wrongType(path, takes, value, rules),
  };
}

/** A number from 0 to 1. */
export function ratio(): ValueReader<number> {
  const takes = "a number from 0 to 1";
  return {
    takes,
    schema: { type: "number", minimum: 0, maximum: 1 },
    read: (value, path, rules) =>
      typeof value === "number" && value >= 0 && value <= 1 ? value : wrongType(path, takes, value, rules),
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): ValueReader<T> {
  const takes = `one of ${choices.join(", ")}`;
  return {
    takes,
    schema: { enum: choices },
    read: (value, path, rules) =>
      choices.find((choice) => choice === value) ?? wrongType(path, takes, value, rules),
  };
}

export function list<T>(
  items: ValueReader<T>,
  itemsMax: Bound,
  takes = "an array",
): ValueReader<readonly T[]> {
  return {
    takes,
    schema: { type: "array", items: items.schema },
    ...(items.completeSchema === undefined
      ? {}
      : { completeSchema: { type: "array", items: items.completeSchema } }),
    read(value, path, rules) {
      if (!Array.isArray(value)) return wrongType(path, takes, value, rules);
      const most = numberOf(itemsMax, rules);
      if (value.length > most)
        refuse(path, `has ${value.length} entries; at most ${most} are allowed`, rules);
      return value.map((item: unknown, i) => items.read(item, `${path}[${i}]`, rules));
    },
  };
}

export function texts(
  itemsMax: Bound = Infinity,
  bytesMax: Bound = Infinity,
): ValueReader<readonly string[]> {
  return list(text(bytesMax), itemsMax, "an array of strings");
}

/** A list of at least one of the choices, from which duplicates are removed. */
export function someOf<T extends string>(choices: readonly T[], takes: string): ValueReader<readonly T[]> {
  const all = list(oneOf(choices), 100, takes);
  return {
    takes,
    schema: { ...all.schema, minItems: 1 },
    read(value, path, rules) {
      const chosen = all.read(value, path, rules);
      if (chosen.length === 0) refuse(path, `must name at least one of ${choices.join(", ")}`, rules);
      return [...new Set(chosen)];
    },
  };
}

/** Accepts any value; other code checks it. */
export function anything(): ValueReader<unknown> {
  return { takes: "a value", schema: {}, read: (value) => value };
}

/** Accepts any object; other code reads its members. */
export function anyObject(): ValueReader<JsonObject> {
  const takes = "an object";
  return {
    takes,
    schema: { type: "object" },
    read: (value, path, rules) => (isObject(value) ? value : wrongType(path, takes, value, rules)),
  };
}

/**
 * Wraps the reader of a secret, or of an object that contains one, so that error messages do not show the
 * value.
 */
export function secret<T>(reader: ValueReader<T>): ValueReader<T> {
  return {
    ...reader,
    read: (value, path, rules, present) => reader.read(value, path, { ...rules, secret: true }, present),
  };
}

/** Adds a check to a reader. `problem` returns why it refuses a value ("must not be empty"), or null. */
export function checked<T>(
  reader: ValueReader<T>,
  problem: (value: T) => string | null,
  schema: JsonSchema = {},
): ValueReader<T> {
  return {
    takes: reader.takes,
    schema: { ...reader.schema, ...schema },
    read(value, path, rules, present) {
      const read = reader.read(value, path, rules, present);
      const why = problem(read);
      return why === null ? read : refuse(path, why, rules);
    },
  };
}
