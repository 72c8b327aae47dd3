// After a shard's thread has died, brings its new thread into the same state: opens the indexes in use, and
// reads the standing of the others.
import type { Ask } from "../threads/shard-pool.js";
import type { IndexMessages } from "./index-messages.js";
import type { IndexState } from "./index-state.js";
import type { Residency } from "./residency.js";

/**
 * Opens the indexes that are in use in the shard's new thread, sending the messages with `ask`. The others
 * are opened when needed.
 */
export async function recoverShard(
  shard: number,
  ask: Ask,
  states: ReadonlyMap<number, IndexState>,
  residency: Residency,
  messages: IndexMessages,
): Promise<void> {
  const used = new Set(residency.lost());
  for (const state of states.values()) state.forget();
  const here = [...states.values()].filter(({ newest }) => newest.places.includes(shard));
  const others = here.filter(({ record }) => !used.has(record.uid));
  const standing = await messages.standing(
    shard,
    others.map(({ record }) => record),
    ask,
  );
  for (const [i, state] of others.entries()) {
    const stands = standing[i];
    if (stands !== null && stands !== undefined && !residency.isOpen(state.record.uid))
      state.setLiveDocs(shard, stands.liveDocs);
  }
  for (const uid of used) {
    const state = states.get(uid);
    for (const location of state?.locations.filter(({ places }) => places.includes(shard)) ?? []) {
      // If the index is damaged, the shard reports the damage for every later request, and recovery continues
      // with the next index.
      const { record, generations } = state!;
      const reply = await messages.openIn(shard, record, location.data, generations.published, ask);
      if (reply !== null && location === state!.newest) state!.setLiveDocs(shard, reply.liveDocs);
    }
  }
}
