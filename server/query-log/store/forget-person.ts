// Anonymises a person's rows. The searches and events still count, but can no longer be attributed to the
// person.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Store, StoreOp } from "../../../shards/storage/store.js";
import { NOBODY, type Person } from "../rows/journal.js";
import { journalRange, logRange } from "../rows/keys.js";
import { putEvents, putMarks, putSearches } from "../rows/records.js";
import type { Blocks } from "./blocks.js";
import { forgetRollups, staleRollups } from "./checkpoint.js";
import type { LogState } from "./log-state.js";

/** The members of QueryLog that this file uses. */
interface Logs {
  readonly store: Store;
  readonly blocks: Blocks;
  checkpoint(): Promise<void>;
  state(log: number): Promise<LogState>;
  change<T>(log: number, work: (state: LogState) => Promise<T>): Promise<T>;
}

interface PeopleColumns {
  readonly user: Float64Array;
  readonly session: Float64Array;
}

/**
 * Anonymises all existing rows whose user or session is `person`, by removing both the user and the session
 * from them. Resolves with the number of changed rows once the disk no longer contains the removed values.
 * Can be interrupted and repeated.
 */
export async function forgetPerson(log: Logs, number: number, person: Person): Promise<number> {
  await log.checkpoint();
  let rows = 0;
  for (const hour of [...(await log.state(number)).hours.keys()]) {
    rows += await log.change(number, (state) => forgetInHour(log, state, hour, person));
    await yieldToEventLoop();
  }
  // LevelDB keeps a deleted value on disk until it rewrites the table that contains it.
  await log.store.compact(logRange(number));
  await log.store.compact(journalRange());
  return rows;
}

async function forgetInHour(
  { store, blocks }: Logs,
  state: LogState,
  hour: number,
  person: Person,
): Promise<number> {
  const known = state.hours.get(hour);
  if (known === undefined) return 0;
  const { log } = state;
  const ops: StoreOp[] = [];
  let rows = 0;
  for (const { block } of known.searches) {
    const place = { log, hour, block };
    const { searches } = blocks.searches(place);
    const without = withoutPerson(searches, person);
    if (without.rows > 0) ops.push(putSearches(place, { ...searches, ...without.columns }));
    rows += without.rows;
  }
  for (const block of known.events) {
    const place = { log, hour, block };
    const events = blocks.events(place);
    const without = withoutPerson(events, person);
    if (without.rows > 0) ops.push(putEvents(place, { ...events, ...without.columns }));
    rows += without.rows;
  }
  if (rows === 0) return 0;
  const hours = new Set([hour]);
  const marked = blocks.changedOf(log).filter(({ place }) => place.hour === hour);
  for (const { place, marks } of marked) ops.push(putMarks(place, marks));
  await store.batch([...ops, ...staleRollups(state, hours)], { sync: true });
  blocks.forget(log, hour);
  forgetRollups(state, hours);
  known.changes++;
  return rows;
}

function withoutPerson(
  { user, session }: PeopleColumns,
  person: Person,
): { readonly rows: number; readonly columns: PeopleColumns } {
  const columns = { user: user.slice(), session: session.slice() };
  let rows = 0;
  for (let row = 0; row < user.length; row++) {
    if (user[row] !== person && session[row] !== person) continue;
    columns.user[row] = NOBODY;
    columns.session[row] = NOBODY;
    rows++;
  }
  return { rows, columns };
}
