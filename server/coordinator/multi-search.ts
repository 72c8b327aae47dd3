// Several searches in one request: runs the slots, a few at a time, and puts their answers, which are JSON
// already, into one list without parsing them. Knows nothing of what a slot does or who may run it.
import { errorBody, SkeinError } from "../errors.js";
import type { Limits } from "../limits.js";

/** One search. Resolves to a JSON value; what it rejects with is the slot's failure. */
export type SearchSlot = () => Promise<Uint8Array>;

const START = Buffer.from('{"results":[');
const COMMA = Buffer.from(",");
const END = Buffer.from("]}");

/**
 * `{"results": [...]}` with one entry per slot, in their order. The answers held at a time are bounded: a slot
 * whose answer does not fit any more into the limit fails, and those after it do not run. `asError` turns
 * whatever a slot rejects with into what the client sees.
 */
export async function multiSearch(
  slots: readonly SearchSlot[],
  limits: Limits,
  asError: (error: unknown) => SkeinError,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [START];
  let bytes = 0;
  let full = false;
  const add = (answer: Uint8Array | SkeinError): void => {
    if (parts.length > 1) parts.push(COMMA);
    if (answer instanceof Uint8Array && !full) {
      full = bytes + answer.byteLength > limits.multiSearchReplyBytesMax;
      if (!full) {
        bytes += answer.byteLength;
        parts.push(answer);
        return;
      }
    }
    const error = answer instanceof SkeinError ? answer : tooLarge(limits.multiSearchReplyBytesMax);
    parts.push(Buffer.from(JSON.stringify(errorBody(error))));
  };
  for (let at = 0; at < slots.length; at += limits.multiSearchAtOnceSlots) {
    const group = slots.slice(at, at + limits.multiSearchAtOnceSlots);
    const answers = full
      ? group.map(() => tooLarge(limits.multiSearchReplyBytesMax))
      : await Promise.all(group.map((slot) => slot().catch(asError)));
    for (const answer of answers) add(answer);
  }
  parts.push(END);
  return Buffer.concat(parts);
}

function tooLarge(bytesMax: number): SkeinError {
  return new SkeinError(
    "SK-SE-413",
    `The answers of the searches before are as large as one reply may be (${bytesMax} bytes); ask for fewer or smaller documents.`,
  );
}
