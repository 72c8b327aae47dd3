// Generates a synthetic query log: many days of searches by a catalogue's visitors, in the format that the
// server writes.
import { Chunk, encodeAnswered, HITS_MAX, NOBODY } from "../../server/query-log/rows/journal.js";
import { QueryIds } from "../../server/query-log/rows/query-ids.js";
import { DAY_MS, HOUR_MS } from "../../server/query-log/rows/time.js";
import { tookStep } from "../../server/query-log/rows/took.js";
import { QueryLog } from "../../server/query-log/store/query-log.js";
import type { SampleDocument } from "../load/queries.js";
import { Random, Zipf } from "../random.js";

export interface Visits {
  readonly log: number;
  readonly searches: number;
  readonly days: number;
  /** Maximum number of distinct query texts; a small catalogue may yield fewer. */
  readonly texts: number;
  readonly people: number;
  readonly untilMs: number;
}

interface Asked {
  readonly answered: Uint8Array;
  readonly ids: readonly string[];
}

const CHUNK_BYTES = 256 * 1024;
const NOTHING_FOUND = 0.06;
const HAS_PERSON = 0.6;
const GOES_ON = 0.3;
const IS_CLICKED = 0.25;
const IS_BOUGHT = 0.1;

/**
 * Resolves with the total number of rows (searches and events). Each document needs an `id` and a `title`.
 */
export async function writeVisits(
  location: string,
  { log, searches, days, texts, people, untilMs }: Visits,
  documents: readonly SampleDocument[],
): Promise<number> {
  const random = new Random(1);
  const asked = askedTexts(documents, texts, random);
  const zipf = new Zipf(asked.length, 0.8, 0);
  const queryLog = await QueryLog.open(location);
  const ids = new QueryIds();
  const chunk = new Chunk(CHUNK_BYTES);
  const fromMs = untilMs - days * DAY_MS;
  let rows = 0;
  let rolledUpMs = fromMs;
  let person = NOBODY;
  const add = async (put: () => boolean, atMs: number): Promise<void> => {
    if (!put()) {
      await queryLog.append(chunk.take(), atMs);
      put();
    }
    rows++;
  };
  for (let n = 0; n < searches; n++) {
    const atMs = fromMs + Math.floor(((untilMs - fromMs) * n) / searches);
    if (random.next() >= GOES_ON) person = random.next() < HAS_PERSON ? random.from(1, people) : NOBODY;
    const one = asked[zipf.draw(random)] as Asked;
    const asker = { user: hashOf(person), session: NOBODY };
    const id = ids.next(atMs);
    const took = tookStep(0.2 + random.next() ** 8 * 50);
    await add(() => chunk.addSearch(log, id, took, asker, one.answered), atMs);
    if (one.ids.length > 0 && random.next() < IS_CLICKED) {
      const place = Math.floor(random.next() ** 2 * one.ids.length);
      const type = random.next() < IS_BOUGHT ? "conversion" : "click";
      const event = { search: id, query: "", document: one.ids[place] as string, position: place + 1 };
      const value = type === "conversion" ? 250_000 : 0;
      const row = { ...event, ...asker, log, type, atMs: atMs + 4_000, value, eventId: "" } as const;
      await add(() => chunk.addEvent(row), atMs);
    }
    if (atMs - rolledUpMs > HOUR_MS) {
      rolledUpMs = atMs;
      await queryLog.upkeep(atMs);
    }
  }
  await queryLog.append(chunk.take(), untilMs);
  await queryLog.upkeep(untilMs + HOUR_MS);
  await queryLog.close();
  return rows;
}

/** Returns 48 bits that look like a keyed hash. A person always gets the same bits. */
function hashOf(person: number): number {
  if (person === NOBODY) return NOBODY;
  const random = new Random(person);
  return random.below(2 ** 24) * 2 ** 24 + random.below(2 ** 24) + 1;
}

/**
 * Draws query texts of one to three words from document titles. A text always has the same results; some
 * texts have none.
 */
function askedTexts(documents: readonly SampleDocument[], count: number, random: Random): Asked[] {
  const asked = new Map<string, Asked>();
  for (let tries = count * 5; tries > 0 && asked.size < count; tries--) {
    const words = String(random.pick(documents).title).toLowerCase().split(" ");
    const some = [random.pick(words), random.pick(words), random.pick(words)].slice(0, random.from(1, 3));
    const found = random.next() < NOTHING_FOUND ? 0 : random.from(1, 400);
    const text = `${some.join(" ")}${found === 0 ? `q${random.below(1e6)}` : ""}`;
    if (asked.has(text)) continue;
    const ids = Array.from({ length: Math.min(HITS_MAX, found) }, () => String(random.pick(documents).id));
    const facts = { text, mode: "keyword", filtered: random.next() < 0.2, found, page: 1 } as const;
    const bytes = ids.map((id) => Buffer.from(id));
    asked.set(text, { ids, answered: encodeAnswered(facts, bytes) });
  }
  return [...asked.values()];
}
