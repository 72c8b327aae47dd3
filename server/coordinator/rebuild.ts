// Follows an index while its segments are re-indexed, until none is of an older schema.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.js";
import type { IndexState } from "./index-state.js";

export interface Rebuilt {
  readonly staleSegments: () => Promise<number>;
  /** False once the index is gone or damaged. */
  readonly wanted: () => boolean;
  readonly log: Logger;
}

const POLL_MS = 200;

/** Resolves when it is known whether there is anything to re-index; goes on looking in the background if there is. */
export async function followRebuild(
  state: IndexState,
  { staleSegments, wanted, log }: Rebuilt,
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
  void poll();

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
