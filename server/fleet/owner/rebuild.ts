// Tracks a rebuild after a schema change. It lasts until all shards have the new schema, no segment has an
// older one, and the catalog has recorded that.
import { setTimeout as sleep } from "node:timers/promises";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { SkeinError } from "../../ground/errors.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Logger } from "../../ground/log.js";
import type { IndexState } from "./index-state.js";

/**
 * Called when no segment of the index has an older schema than this record's. Resolves with false if that
 * could not be recorded, so the caller has to try again.
 */
export type OnReindexed = (record: IndexRecord) => Promise<boolean>;

export interface Rebuild {
  readonly staleSegments: () => Promise<number>;
  readonly onReindexed: OnReindexed;
  /** False once the index has been dropped or is damaged. */
  readonly wanted: () => boolean;
  /** Keeps the index open until the returned function is called. */
  readonly keep: () => () => void;
  readonly jobs: Jobs;
  readonly log: Logger;
}

const POLL_MS = 200;
const REPEAT_MS = 1_000;
const WAIT_LOOK_MS = 20;

/** Subject of the jobs that track an index's rebuild. */
export function rebuildSubject(uid: number): string {
  return `schema of index ${uid}`;
}

/**
 * Resolves once it is known whether anything must be re-indexed. If so, tracks the re-indexing in the
 * background.
 */
export async function followRebuild(state: IndexState, rebuild: Rebuild): Promise<void> {
  await look(state, rebuild);
  if (state.rebuilding)
    inBackground("follow a rebuild", state, rebuild, (signal) => poll(state, rebuild, signal));
}

/**
 * Call if a shard did not accept the schema. Sends it to all shards again, in the background, until they have
 * accepted it. Then tracks the rebuild.
 */
export function repeatSchema(state: IndexState, rebuild: Rebuild, tell: () => Promise<void>): void {
  inBackground("tell the shards a schema", state, rebuild, async (signal) => {
    const { wanted, log } = rebuild;
    for (let told = false; !told; ) {
      await sleep(REPEAT_MS, undefined, { ref: false, signal });
      if (!wanted()) return;
      try {
        await tell();
        await look(state, rebuild);
        told = true;
      } catch (error) {
        log.warn({ err: error }, "a new schema is not in all shards yet; telling them again");
      }
    }
    await poll(state, rebuild, signal);
  });
}

/**
 * Resolves once no segment has an older schema, or once `wanted` returns false. Throws SK-SYS-503 after
 * `deadlineMs` (performance.now()).
 */
export async function rebuilt(
  state: IndexState,
  wanted: Rebuild["wanted"],
  deadlineMs: number,
): Promise<void> {
  while (state.rebuilding && wanted()) {
    if (performance.now() > deadlineMs)
      throw new SkeinError("SK-SYS-503", "the index is being re-indexed; retry", { retryAfter: 5 });
    await sleep(WAIT_LOOK_MS);
  }
}

async function look(state: IndexState, { staleSegments, onReindexed }: Rebuild): Promise<void> {
  const { record } = state;
  const rebuilding = (await staleSegments()) > 0 || !(await onReindexed(record));
  if (state.record === record) state.rebuilding = rebuilding;
}

async function poll(state: IndexState, rebuild: Rebuild, signal: AbortSignal): Promise<void> {
  const { wanted, log } = rebuild;
  while (state.rebuilding && wanted()) {
    await sleep(POLL_MS, undefined, { ref: false, signal });
    try {
      await look(state, rebuild);
    } catch (error) {
      log.warn({ err: error, uid: state.record.uid }, "cannot tell how far re-indexing is; asking again");
    }
  }
}

function inBackground(
  name: string,
  state: IndexState,
  { jobs, keep }: Rebuild,
  work: (signal: AbortSignal) => Promise<void>,
): void {
  void jobs.start({ name, subject: rebuildSubject(state.record.uid) }, work).finally(keep());
}
