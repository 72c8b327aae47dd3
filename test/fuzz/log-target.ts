// The query log: event bodies as clients may send them, and damaged stored bytes. Each event is counted or
// rejected, and accepted events are read back unchanged. Damaged columns and chunks are either read or
// refused with a RangeError.
import { isDeepStrictEqual } from "node:util";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Random } from "../../bench/random.js";
import { SkeinError } from "../../server/ground/errors.js";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { readEvents } from "../../server/query-log/analytics/event-request.js";
import { People } from "../../server/query-log/analytics/people.js";
import { reportOf } from "../../server/query-log/reports/report.js";
import { ColumnReader } from "../../server/query-log/rows/columns.js";
import { decodeEventBlock, encodeEventBlock } from "../../server/query-log/rows/event-block.js";
import {
  Chunk,
  decodeAnswered,
  encodeAnswered,
  type JournalEvent,
  readChunk,
} from "../../server/query-log/rows/journal.js";
import { eventBlockOf, searchBlockOf } from "../../server/query-log/rows/open-rows.js";
import { Rollup, readPeople } from "../../server/query-log/rows/rollup.js";
import { decodeSearchBlock, encodeSearchBlock } from "../../server/query-log/rows/search-block.js";
import { QueryLog } from "../../server/query-log/store/query-log.js";
import { CrashDisk, CrashStore } from "../crash/crash-store.js";
import { finding, mutateBytes, mutateText, type Target } from "./target.js";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;
const CHUNK_BYTES = 8 * 1024 * 1024;
const ID = "019ca9a0-2a00-7abc-8123-0123456789ab";
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  type: ["click", "conversion", "view", null, 1],
  document_id: ["a", "", "ü/😀", "x".repeat(3_000), 7, null],
  query_id: [ID, "nonsense", "", null, 5],
  query: ["red shoe", "", "  ", "\u0000", null, []],
  position: [1, 0, 2 ** 32 - 1, 2 ** 32, -1, 1.5, null],
  user_id: ["u", "", null, "y".repeat(2_000), {}],
  session_id: ["s", "", null],
  timestamp: [NOW_MS, NOW_MS - 2 * DAY_MS, NOW_MS + DAY_MS, "2026-03-01T11:00:00Z", "yesterday", null, 1e300],
  event_id: ["e1", "e2", "", null],
  value: [0, 12.5, 1e9, 1e10, -1, "7", null],
};
const PIECES = [
  ...'{}[]",:\\ -1e.',
  "null",
  "1e999",
  '"__proto__"',
  "\\u0000",
  '"type"',
  "😀",
  "[[[[",
  '{"type":',
];

export function eventsTarget(): Target {
  const people = new People(Buffer.alloc(32, 1));
  const context = { tenant: 1, log: 3, userId: null, people, nowMs: NOW_MS };
  return {
    name: "events",
    generate(random) {
      const events = Array.from({ length: random.from(0, 6) }, () => randomEvent(random));
      const text = JSON.stringify(random.below(4) === 0 ? events[0] : events) ?? "null";
      return Buffer.from(random.below(2) === 0 ? text : mutateText(random, text, PIECES));
    },
    async check(input) {
      const body = parsed(input);
      if (body === undefined) return;
      const count = Array.isArray(body) ? body.length : 1;
      let events: ReturnType<typeof readEvents>;
      try {
        events = readEvents(body, context, DEFAULT_LIMITS);
      } catch (error) {
        if (error instanceof SkeinError && error.code === "SK-AN-400") return;
        throw error;
      }
      const { accepted, rejected } = events;
      if (accepted.length + rejected.length !== count)
        finding(`${count} events became ${accepted.length} and ${rejected.length} refusals`);
      await checkCounted(accepted);
    },
    close: () => Promise.resolve(),
  };
}

function randomEvent(random: Random): unknown {
  const event: Record<string, unknown> = { type: "click", document_id: "a" };
  for (const [name, values] of Object.entries(VALUES))
    if (random.below(3) === 0) event[name] = random.pick(values);
  return random.below(12) === 0 ? random.pick([null, 1, "x", []]) : event;
}

/** Returns undefined if the server refuses the input as invalid JSON. */
function parsed(input: Uint8Array): unknown {
  try {
    const body = JSON.parse(Buffer.from(input).toString()) as unknown;
    return /\p{Surrogate}/u.test(JSON.stringify(body)) || JSON.stringify(body).includes("\\ud")
      ? undefined
      : body;
  } catch {
    return undefined;
  }
}

/**
 * Writes the events to a chunk. Checks that they are read back unchanged, and that the reports of a log with
 * this chunk count them.
 */
async function checkCounted(events: readonly JournalEvent[]): Promise<void> {
  const chunk = new Chunk(CHUNK_BYTES);
  for (const event of events) if (!chunk.addEvent(event)) finding("an event did not fit into a chunk");
  const bytes = chunk.take();
  const read = [...readChunk(bytes)].map(({ row }) => row);
  if (!isDeepStrictEqual(read, [...events])) finding("events come back as others from their chunk");
  const log = await QueryLog.on(new CrashStore(new CrashDisk()));
  await log.append(bytes, NOW_MS);
  await log.checkpoint();
  const window = { fromMs: NOW_MS - 4 * DAY_MS, toMs: NOW_MS + DAY_MS };
  const summary = await reportOf(log, { log: 3, kind: "summary", interval: "day", window });
  const named = new Set(events.map(({ eventId }) => eventId).filter((id) => id !== ""));
  const expected = named.size + events.filter(({ eventId }) => eventId === "").length;
  const { clicks, conversions } = summary as { clicks: number; conversions: number };
  if (clicks + conversions !== expected) finding(`of ${expected} events ${clicks + conversions} are counted`);
}

function readAll(chunk: Uint8Array): void {
  for (const { kind, row } of [...readChunk(chunk)]) if (kind === "search") decodeAnswered(row.answered);
}

const ROW = { at: NOW_MS, user: 2 ** 48 - 1, session: 0, text: 7 };
const SEARCHES = encodeSearchBlock(
  searchBlockOf(
    [0, 5, 900].map((later) => ({
      ...ROW,
      at: NOW_MS + later,
      counter: 9 + later,
      frontEnd: 2 ** 40,
      typed: later === 5 ? " Größe" : "",
      words: "",
      found: 300,
      took: 99,
      mode: 1,
      filtered: true,
      page: 1,
      hits: [1, 2, 300],
      marks: 0,
    })),
  ),
);
const EVENTS = encodeEventBlock(
  eventBlockOf(
    [0, 40].map((later) => ({
      ...ROW,
      at: NOW_MS + later,
      type: 1,
      document: 500,
      position: 3,
      value: 12_000,
      searchAt: NOW_MS,
      searchCounter: 9,
      searchFrontEnd: 2 ** 40,
    })),
  ),
);
const CHUNK = ((): Uint8Array => {
  const chunk = new Chunk(4096);
  const answer = { text: "red", mode: "hybrid", filtered: true, found: 3, page: 1 } as const;
  const id = { atMs: NOW_MS, counter: 1, frontEnd: 2 };
  chunk.addSearch(3, id, 9, { user: 1, session: 2 }, encodeAnswered(answer, [Buffer.from("a")]));
  return chunk.take();
})();
const ROLLUP = ((): Rollup => {
  const rollup = new Rollup();
  rollup.addSearch(NOW_MS, 3, 0, 9, 77, 2);
  rollup.addEvent(NOW_MS, 1, 2, 500);
  return rollup;
})();

/** Stored bytes and their decoders. An input's first byte selects one of these. */
const KINDS: readonly { readonly bytes: Uint8Array; read(bytes: Uint8Array): unknown }[] = [
  { bytes: inflateRawSync(SEARCHES), read: (bytes) => decodeSearchBlock(deflateRawSync(bytes)) },
  { bytes: inflateRawSync(EVENTS), read: (bytes) => decodeEventBlock(deflateRawSync(bytes)) },
  { bytes: CHUNK, read: readAll },
  { bytes: ROLLUP.part("people"), read: (bytes) => readPeople(new ColumnReader(bytes)) },
  ...(["totals", "texts", "documents"] as const).map((part) => ({
    bytes: ROLLUP.part(part),
    read: (bytes: Uint8Array) => new Rollup().addPart(part, bytes),
  })),
];

export function queryLogTarget(): Target {
  return {
    name: "query-log",
    generate(random) {
      const kind = random.below(KINDS.length);
      return Buffer.concat([Buffer.of(kind), mutateBytes(random, KINDS[kind]!.bytes)]);
    },
    check(input) {
      const kind = KINDS[(input[0] ?? 0) % KINDS.length]!;
      try {
        kind.read(input.subarray(1));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    },
    close: () => Promise.resolve(),
  };
}
