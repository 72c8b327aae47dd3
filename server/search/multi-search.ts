// Runs several searches in one request. Each search is a slot, a function that the caller supplies along with
// its checks. A few slots run at a time. Their JSON answers are sent in the order of the slots, without
// parsing them and without keeping those that have been sent.
import { errorBody, SkeinError } from "../ground/errors.js";
import { object, required } from "../ground/input/object-reader.js";
import { anything, type JsonSchema, list } from "../ground/input/readers.js";
import type { Limits } from "../ground/limits.js";
import { QUERY } from "../question/request/query-request.js";

/**
 * Runs one search and resolves with JSON, which should be at most `bytesMax` bytes long. Rejects with the
 * slot's error. `again` is true if the search has already run once with a smaller limit.
 */
export type SearchSlot = (bytesMax: number, again: boolean) => Promise<Uint8Array>;

/**
 * Schema of a single search. Each search is validated when it runs, so that an invalid search does not affect
 * the others.
 */
export const SLOT_SCHEMA: JsonSchema = {
  ...QUERY.schema,
  properties: {
    index: { type: "string", description: "Name of the index." },
    ...(QUERY.schema.properties as object),
  },
  required: ["index", ...(QUERY.schema.required as string[])],
};

export const MULTI_SEARCH = object(
  {
    searches: required(
      list({ ...anything(), schema: SLOT_SCHEMA }, "multiSearchSlotsMax", "an array of searches"),
      "Each a query with the name of its index.",
    ),
  },
  { unknown: "ignored" },
);

type MultiSearchLimits = Pick<Limits, "multiSearchReplyBytesMax" | "replyBytesMax">;

const START = Buffer.from('{"data":{"results":[');
const COMMA = Buffer.from(",");
const END = Buffer.from("]}}");

/** Number of slots that run or hold their answers at the same time, including the one that is sent next. */
export const SLOTS_AHEAD = 4;

type SlotAnswer = Uint8Array | SkeinError;

/**
 * Yields `{"data": {"results": [...]}}` piece by piece, with one entry per slot, in slot order. A few slots
 * run ahead of the one whose answer is sent next, and share the bytes that the reply may still have. A slot
 * that needs more than its share runs again when it is next, with all remaining bytes, but at most
 * `replyBytesMax`. If its answer does not fit into the remaining bytes either, it and all later slots fail,
 * and no further slots begin. `asError` converts a slot's rejection to the error that the client sees.
 * `checkWanted` throws once nobody wants the reply; then the remaining slots neither run nor fail one by one.
 */
export async function* multiSearch(
  slots: readonly SearchSlot[],
  { multiSearchReplyBytesMax, replyBytesMax }: MultiSearchLimits,
  asError: (error: unknown) => SkeinError,
  checkWanted: () => void,
): AsyncGenerator<Uint8Array> {
  let room = multiSearchReplyBytesMax;
  const shareOf = (bytes: number): number => Math.min(replyBytesMax, Math.floor(bytes));
  const ahead: { readonly share: number; readonly answer: Promise<SlotAnswer> }[] = [];
  let begun = 0;
  const runAhead = (): void => {
    for (; begun < slots.length && ahead.length < SLOTS_AHEAD; begun++) {
      const share = shareOf(room / SLOTS_AHEAD);
      ahead.push({ share, answer: slots[begun]!(share, false).catch(asError) });
    }
  };
  let at = 0;
  for (; at < slots.length && room > 0; at++) {
    checkWanted();
    runAhead();
    const { share, answer } = ahead.shift()!;
    let sent = await answer;
    const all = shareOf(room);
    if (isTooLarge(sent) && all > share) sent = await slots[at]!(all, true).catch(asError);
    const isFull = sent instanceof Uint8Array ? sent.byteLength > room : isTooLarge(sent) && all === room;
    if (isFull) break;
    if (sent instanceof Uint8Array) room -= sent.byteLength;
    yield entry(at, sent);
  }
  for (; at < slots.length; at++) yield entry(at, tooLarge(multiSearchReplyBytesMax));
  yield slots.length === 0 ? Buffer.concat([START, END]) : END;
}

/** Returns the slot's place in the list, as bytes. */
function entry(at: number, answer: SlotAnswer): Uint8Array {
  const json = answer instanceof Uint8Array ? answer : Buffer.from(JSON.stringify(errorBody(answer)));
  return Buffer.concat([at === 0 ? START : COMMA, json]);
}

function isTooLarge(answer: SlotAnswer): boolean {
  return answer instanceof SkeinError && answer.code === "SK-SE-413";
}

function tooLarge(bytesMax: number): SkeinError {
  return new SkeinError(
    "SK-SE-413",
    `the previous searches already fill the maximum reply (${bytesMax} bytes); ask for fewer or smaller documents`,
  );
}
