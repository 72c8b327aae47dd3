// Follows an index whose schema has changed until all shards know the new one and no segment is of an older one.
import { setTimeout as sleep } from "node:timers/promises";
import type { Jobs } from "../jobs/jobs.js";
import type { Logger } from "../log.js";
import type { IndexState } from "./index-state.js";

export interface Rebuilt {
  /** Of the job that looks. */
  readonly subject: string;
  readonly staleSegments: () => Promise<number>;
  /** False once the index is gone or damaged. */
  readonly wanted: () => boolean;
  /** The index must stay open until the answer is called. */
  readonly keep: () => () => void;
  readonly jobs: Jobs;
  readonly log: Logger;
}

const POLL_MS = 200;
const REPEAT_MS = 1_000;

/** Resolves when it is known whether there is anything to re-index; goes on looking in the background if there is. */
export async function followRebuild(
  state: IndexState,
  { subject, staleSegments, wanted, keep, jobs, log }: Rebuilt,
): Promise<void> {
  const look = async (): Promise<void> => {
    const { record } = state;
    const rebuilding = (await staleSegments()) > 0;
    if (state.record === record) state.rebuilding = rebuilding;
  };
  await look();
  if (!state.rebuilding) return;
  void jobs.start({ name: "follow a rebuild", subject }, poll).finally(keep());

  async function poll(signal: AbortSignal): Promise<void> {
    while (state.rebuilding && wanted()) {
      await sleep(POLL_MS, undefined, { ref: false, signal });
      try {
        await look();
      } catch (error) {
        log.warn({ err: error, uid: state.record.uid }, "cannot tell how far re-indexing is; asking again");
      }
    }
  }
}

/** Tells the shards about a new schema again until they all have taken it, or nobody wants it any more. Rejects at `signal`. */
export async function repeatUntilDone(
  tell: () => Promise<void>,
  wanted: () => boolean,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(REPEAT_MS, undefined, { ref: false, signal });
    if (!wanted()) return;
    try {
      return await tell();
    } catch (error) {
      log.warn({ err: error }, "a new schema is not in all shards yet; telling them again");
    }
  }
}
