// Why an input of documents is unreadable, in words for the person who sent it.

/** The message is one line and names the position in the input. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** One line for any thrown value. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, " ").trim();
}
