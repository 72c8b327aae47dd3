// Isolates a front-end's reads that might crash a shard's thread. Only the owner has the list of suspects
// (quarantine.ts). While the list is not empty, the shard's gate is closed and front-ends read through the
// owner. If a shard's thread or engine ends, a front-end reports each of its reads that was running there.

import type { Isolation, Subject } from "../../../fleet/threads/isolation.js";
import { ShardEndedError } from "../../../fleet/threads/shard-errors.js";
import type { ShardGate } from "../../../fleet/threads/shard-gate.js";
import { carried, type ThreadChannel } from "../channel.js";
import type { OwnerCalls } from "../messages.js";

export class FollowedIsolation implements Isolation {
  readonly #gate: ShardGate;
  readonly #place: number;
  readonly #owner: ThreadChannel<OwnerCalls>;

  constructor(gate: ShardGate, place: number, owner: ThreadChannel<OwnerCalls>) {
    this.#gate = gate;
    this.#place = place;
    this.#owner = owner;
  }

  enter(shard: number): boolean {
    return !this.#gate.enter(shard, this.#place);
  }

  sendApart(shard: number, request: Uint8Array, tenant: number, subject: Subject): Promise<Uint8Array> {
    return this.#owner.ask("read", { shard, tenant, request, subject: subject() });
  }

  leave(shard: number, subject: Subject, apart: boolean, error: unknown): void {
    if (apart) return;
    if (error instanceof ShardEndedError)
      this.#owner.tell("blame", { shard, subject: subject(), life: error.life, error: carried(error) });
    this.#gate.leave(shard, this.#place);
  }
}
