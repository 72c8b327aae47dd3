// Restores a shard's new thread to the state of the dead one.
import type { Ask } from "../threads/shard-pool.js";
import type { IndexMessages } from "./index-messages.js";
import type { IndexState } from "./index-state.js";
import type { Residency } from "./residency.js";

/** Opens the shard's indexes in use, sending the messages with `ask`. The rest are opened on demand. */
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
      // From now on, the shard answers requests for a damaged index with an error that describes the damage.
      // Recovery continues with the next index.
      const reply = await messages.openIn(shard, state!.record, location.data, ask);
      if (reply !== null && location === state!.newest) state!.setLiveDocs(shard, reply.liveDocs);
    }
  }
}
