// Runs several searches in one request. Each search is a slot, a function that the caller supplies along with
// its checks. A few slots run at a time, and their JSON answers are joined into one list without parsing
// them.
import { inSlices } from "../fleet/threads/tenant-slices.js";
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

const START = Buffer.from('{"data":{"results":[');
const COMMA = Buffer.from(",");
const END = Buffer.from("]}}");

/**
 * Returns `{"data": {"results": [...]}}` with one entry per slot, in slot order. The total size of the
 * answers in memory is limited: slots that run together share the remaining bytes. A slot that needs more
 * than its share runs again alone, with all remaining bytes, but at most `replyBytesMax`. If its answer does
 * not fit into the remaining bytes either, it and all later slots fail, and no further slots run. `asError`
 * converts a slot's rejection to the error that the client sees. Waits for `nextSlice` between pieces of long
 * work.
 */
export async function multiSearch(
  slots: readonly SearchSlot[],
  limits: Limits,
  asError: (error: unknown) => SkeinError,
  nextSlice: () => Promise<void>,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [START];
  let room = limits.multiSearchReplyBytesMax;
  let full = false;
  const slotBytes = (bytes: number): number => Math.min(limits.replyBytesMax, bytes);
  const add = (answer: Uint8Array | SkeinError): void => {
    if (parts.length > 1) parts.push(COMMA);
    if (answer instanceof Uint8Array) room -= answer.byteLength;
    parts.push(answer instanceof Uint8Array ? answer : Buffer.from(JSON.stringify(errorBody(answer))));
  };
  for (let at = 0; at < slots.length; at += limits.multiSearchAtOnceSlots) {
    const group = slots.slice(at, at + limits.multiSearchAtOnceSlots);
    const share = slotBytes(Math.floor(room / group.length));
    const answers: readonly (Uint8Array | SkeinError)[] = full
      ? []
      : await Promise.all(group.map((slot) => slot(share, false).catch(asError)));
    for (const [i, slot] of group.entries()) {
      const first = answers[i];
      const all = slotBytes(room);
      const again: boolean = !full && isTooLarge(first) && all > share;
      const answer: Uint8Array | SkeinError | undefined = again
        ? await slot(all, true).catch(asError)
        : first;
      full ||= answer instanceof Uint8Array ? answer.byteLength > room : isTooLarge(answer) && all === room;
      add(full || answer === undefined ? tooLarge(limits.multiSearchReplyBytesMax) : answer);
    }
  }
  parts.push(END);
  return inSlices(joining(parts), nextSlice);
}

function* joining(parts: readonly Uint8Array[]): Generator<void, Uint8Array> {
  const joined = Buffer.allocUnsafe(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
    yield;
  }
  return joined;
}

function isTooLarge(answer: Uint8Array | SkeinError | undefined): boolean {
  return answer instanceof SkeinError && answer.code === "SK-SE-413";
}

function tooLarge(bytesMax: number): SkeinError {
  return new SkeinError(
    "SK-SE-413",
    `the previous searches already fill the maximum reply (${bytesMax} bytes); ask for fewer or smaller documents`,
  );
}
