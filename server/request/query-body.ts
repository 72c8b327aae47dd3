// Typed access to the members of a query body. Each reader throws SK-SE-400 naming the parameter and the
// JSON type that was expected; an absent member is undefined. Knows no parameter by name.
import { SkeinError } from "../errors.js";

export function invalid(sentence: string): SkeinError {
  return new SkeinError("SK-SE-400", sentence);
}

export class BodyReader {
  readonly #body: Readonly<Record<string, unknown>>;

  constructor(body: unknown) {
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw invalid(`The body must be a JSON object, not ${describe(body)}.`);
    }
    this.#body = body as Readonly<Record<string, unknown>>;
  }

  /** A string of well-formed Unicode. */
  text(name: string): string | undefined {
    const value = this.#member(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw wrongType(name, "a string", value);
    return wellFormed(name, value);
  }

  flag(name: string): boolean | undefined {
    const value = this.#member(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw wrongType(name, "a boolean", value);
  }

  /** An integer, clamped to low..high. */
  clamped(name: string, fallback: number, low: number, high: number): number {
    const value = this.#member(name);
    const given = value === undefined ? fallback : typeof value === "bigint" ? Number(value) : value;
    if (typeof given !== "number" || !Number.isInteger(given)) throw wrongType(name, "an integer", value);
    return Math.max(low, Math.min(high, given));
  }

  texts(name: string): string[] | undefined {
    const value = this.#member(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw wrongType(name, "an array of strings", value);
    return value.map((entry: unknown) => {
      if (typeof entry !== "string")
        throw wrongType(name, "an array of strings", value, `${describe(entry)} in it`);
      return wellFormed(name, entry);
    });
  }

  object(name: string): object | undefined {
    const value = this.#member(name);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw wrongType(name, "an object", value);
    return value;
  }

  #member(name: string): unknown {
    return Object.hasOwn(this.#body, name) ? this.#body[name] : undefined;
  }
}

/** The non-empty, trimmed parts of a comma-separated text. */
export function commaList(text: string | undefined): string[] {
  if (text === undefined) return [];
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function wellFormed(name: string, text: string): string {
  if (/\p{Surrogate}/u.test(text))
    throw invalid(`${name} holds an unpaired surrogate; expected well-formed Unicode.`);
  return text;
}

function wrongType(name: string, expected: string, value: unknown, detail = describe(value)): SkeinError {
  return new SkeinError("SK-SE-400", `${name} must be ${expected}, not ${detail}.`, {
    details: { parameter: name, expected },
  });
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "number") return `the number ${value}`;
  return `a ${typeof value}`;
}
