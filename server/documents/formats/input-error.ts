// Errors that say why an input is unreadable, worded for the person who sent it.

/** The input is unreadable. The message is one line and says where in the input the problem is. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** Returns a one-line message for any thrown value. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, " ").trim();
}
