// Reads members of untrusted JSON objects: each reader returns a checked value or throws one sentence that
// names the member and what was expected. Knows nothing of what the members mean.
import { type ErrorCode, SkeinError } from "./errors.js";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a value is, for error texts. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return value.length > 40 ? "a long string" : JSON.stringify(value);
  if (typeof value === "object") return "an object";
  return String(value);
}

/** The members of one object. `null` counts as absent for optional members. */
export class Members {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #code: ErrorCode;

  /** `path` is where the object stands, "" for the body; `code` is the error code of every refusal. */
  constructor(value: unknown, path: string, code: ErrorCode) {
    this.#path = path;
    this.#code = code;
    if (!isObject(value)) {
      throw new SkeinError(code, `${path || "the body"} must be an object, not ${describe(value)}`);
    }
    this.#object = value;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name);
  }

  value(name: string): unknown {
    return this.has(name) ? this.#object[name] : undefined;
  }

  /** The members that are not in `names`. */
  others(names: readonly string[]): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this.#object).filter(([name]) => !names.includes(name)));
  }

  /** Refuses members that are not in `names`: a misspelt setting must not be lost silently. */
  allowOnly(names: readonly string[]): void {
    const unknown = Object.keys(this.#object).find((name) => !names.includes(name));
    if (unknown !== undefined) this.#refuse(unknown, `is unknown; known are ${names.join(", ")}`);
  }

  object(name: string): Members {
    return new Members(this.#required(name, "an object"), this.#full(name), this.#code);
  }

  string(name: string, bytesMax: number, what = "a string"): string {
    const value = this.#required(name, what);
    if (typeof value !== "string") return this.#refuse(name, `must be ${what}, not ${describe(value)}`);
    return this.#fitting(name, value, bytesMax);
  }

  optionalString(name: string, bytesMax: number, what = "a string"): string | undefined {
    return this.#absent(name) ? undefined : this.string(name, bytesMax, what);
  }

  optionalBoolean(name: string): boolean | undefined {
    if (this.#absent(name)) return undefined;
    const value = this.value(name);
    if (typeof value !== "boolean")
      return this.#refuse(name, `must be true or false, not ${describe(value)}`);
    return value;
  }

  optionalInteger(name: string, min: number, max: number): number | undefined {
    if (this.#absent(name)) return undefined;
    const value = this.value(name);
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.#refuse(name, `must be an integer from ${min} to ${max}, not ${describe(value)}`);
  }

  optionalOneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    if (this.#absent(name)) return undefined;
    const value = this.value(name);
    const choice = choices.find((candidate) => candidate === value);
    if (choice !== undefined) return choice;
    return this.#refuse(name, `must be one of ${choices.join(", ")}, not ${describe(value)}`);
  }

  array(name: string, itemsMax: number, what = "an array"): readonly unknown[] {
    const value = this.#required(name, what);
    if (!Array.isArray(value)) return this.#refuse(name, `must be ${what}, not ${describe(value)}`);
    if (value.length > itemsMax)
      return this.#refuse(name, `has ${value.length} entries; at most ${itemsMax} are allowed`);
    return value;
  }

  optionalStrings(name: string, itemsMax: number, bytesMax: number): string[] | undefined {
    if (this.#absent(name)) return undefined;
    return this.array(name, itemsMax, "an array of strings").map((item, i) => {
      if (typeof item !== "string")
        return this.#refuse(`${name}[${i}]`, `must be a string, not ${describe(item)}`);
      return this.#fitting(`${name}[${i}]`, item, bytesMax);
    });
  }

  /** Throws the member's refusal. */
  refuse(name: string, why: string): never {
    return this.#refuse(name, why);
  }

  #absent(name: string): boolean {
    const value = this.value(name);
    return value === undefined || value === null;
  }

  #required(name: string, what: string): unknown {
    const value = this.value(name);
    return value === undefined ? this.#refuse(name, `is missing; expected ${what}`) : value;
  }

  #fitting(name: string, value: string, bytesMax: number): string {
    if (Buffer.byteLength(value) <= bytesMax) return value;
    return this.#refuse(name, `is longer than ${bytesMax} bytes`);
  }

  #full(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  #refuse(name: string, why: string): never {
    throw new SkeinError(this.#code, `${this.#full(name)} ${why}`);
  }
}
