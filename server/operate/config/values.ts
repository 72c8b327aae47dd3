// Raw configuration values, and the readers that accept or refuse them.
import { ADMIN_KEY_TEXT } from "../../access/tenants/admin-key.js";

/**
 * Thrown if the server cannot start with this configuration. The message is one line for the terminal, and
 * the exit code is 2.
 */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

/** A raw value and the name under which it was given. `value` is undefined if the option was not given. */
export interface GivenValue {
  readonly label: string;
  readonly value: unknown;
}

/** Checks and converts an option's value. Throws ConfigError with one line that names the option. */
export type ReadValue<T> = (given: GivenValue) => T;

function refuseValue(given: GivenValue, expected: string): never {
  const shown = typeof given.value === "string" ? `"${given.value}"` : JSON.stringify(given.value);
  throw new ConfigError(`${given.label} must be ${expected}, not ${shown}`);
}

/** Accepts any non-empty text. */
export function textOr<T>(fallback: T): ReadValue<string | T> {
  return (given) => {
    if (given.value === undefined) return fallback;
    if (typeof given.value !== "string" || given.value.trim() === "")
      refuseValue(given, "a non-empty string");
    return given.value;
  };
}

export function wholeNumberOr<T>(fallback: T, min: number, max: number): ReadValue<number | T> {
  return (given) => {
    if (given.value === undefined) return fallback;
    const value =
      typeof given.value === "string" && /^\d{1,15}$/.test(given.value) ? Number(given.value) : given.value;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    return refuseValue(given, `a whole number from ${min} to ${max}`);
  };
}

/** Accepts any of the choices. The fallback must be one of them. */
export function choiceOr<const T extends string>(fallback: NoInfer<T>, choices: readonly T[]): ReadValue<T> {
  return (given) => {
    if (given.value === undefined) return fallback;
    const found = choices.find((candidate) => candidate === given.value);
    return found ?? refuseValue(given, `one of ${choices.join(", ")}`);
  };
}

/**
 * Accepts a key; null if the option is not given. Errors do not show the value, which may be a mistyped key.
 */
export const keyIfAny: ReadValue<string | null> = (given) => {
  const { label, value } = given;
  if (value === undefined) return null;
  if (typeof value === "string" && ADMIN_KEY_TEXT.test(value)) return value;
  const expected = "8 to 512 visible ASCII characters without spaces";
  if (value === "") refuseValue(given, expected);
  throw new ConfigError(`${label} must be ${expected}`);
};

const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4,
};

/** Accepts a size such as `512mb` and returns it in bytes; null if the option is not given. */
export const memorySizeIfAny: ReadValue<number | null> = (given) => {
  if (given.value === undefined) return null;
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?b|)$/i.exec(String(given.value).trim());
  const bytes = match === null ? 0 : Math.floor(Number(match[1]) * SIZE_UNITS[match[2]!.toLowerCase()]!);
  if (bytes < 64 * 1024 ** 2) refuseValue(given, "a size of at least 64MB such as 512MB or 4GB");
  return bytes;
};
