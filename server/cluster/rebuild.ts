// Follows an index whose schema has changed until all shards know the new one and no segment is of an older one.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.js";
import type { IndexState } from "./index-state.js";

export interface Rebuilt {
  readonly staleSegments: () => Promise<number>;
  /** False once the index is gone or damaged. */
  readonly wanted: () => boolean;
  /** The index must stay open until the answer is called. */
  readonly keep: () => () => void;
  readonly log: Logger;
}

const POLL_MS = 200;
const REPEAT_MS = 1_000;

/** Resolves when it is known whether there is anything to re-index; goes on looking in the background if there is. */
export async function followRebuild(
  state: IndexState,
  { staleSegments, wanted, keep, log }: Rebuilt,
): Promise<void> {
  const look = async (): Promise<void> => {
    const { record } = state;
    const rebuilding = (await staleSegments()) > 0;
    if (state.record === record) state.rebuilding = rebuilding;
  };
  if (state.followed) {
    state.rebuilding = true;
    return;
  }
  await look();
  if (!state.rebuilding) return;
  state.followed = true;
  const end = keep();
  void poll().finally(end);

  async function poll(): Promise<void> {
    while (state.rebuilding && wanted()) {
      await sleep(POLL_MS, undefined, { ref: false });
      try {
        await look();
      } catch (error) {
        log.warn({ err: error, uid: state.record.uid }, "cannot tell how far re-indexing is; asking again");
      }
    }
    state.followed = false;
  }
}

/** Tells the shards about a new schema again until they all have taken it, or nobody wants it any more. Never rejects. */
export async function repeatUntilDone(
  tell: () => Promise<void>,
  wanted: () => boolean,
  log: Logger,
): Promise<void> {
  for (;;) {
    await sleep(REPEAT_MS, undefined, { ref: false });
    if (!wanted()) return;
    try {
      return await tell();
    } catch (error) {
      log.warn({ err: error }, "a new schema is not in all shards yet; telling them again");
    }
  }
}
