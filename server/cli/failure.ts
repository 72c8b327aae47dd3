// Defines the exit codes, and the error with which a command reports that it cannot do its job.
import { InputError } from "../documents/formats/input-error.js";

/**
 * Exit codes. 0: success · 1: done, but some documents were rejected or damage was found · 2: wrong usage, no
 * connection, or refused by the server.
 */
export const EXIT_FINE = 0;
export const EXIT_SOME_REJECTED = 1;
export const EXIT_DAMAGED = 1;
export const EXIT_FAILED = 2;

/** A failure that the user can act on. Its message is one line, printed without a stack trace. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** True if the message alone tells the user what to do, so that a stack trace would only distract. */
export function speaksToUser(error: unknown): boolean {
  if (error instanceof CliError) return error.cause === undefined || speaksToUser(error.cause);
  return error instanceof InputError;
}
