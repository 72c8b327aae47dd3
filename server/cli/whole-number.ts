// Parses an option whose value is a whole number, such as a page number. Commander adds the option's name to
// the error message.
import { InvalidArgumentError } from "commander";

export function wholeNumber(text: string): number {
  const n = Number(text);
  if (Number.isInteger(n) && n >= 0) return n;
  throw new InvalidArgumentError("it must be a whole number");
}
