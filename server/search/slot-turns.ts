// Limits how many searches of a tenant's multi-searches run at the same time on this thread. The others wait
// for their turn, and the tenant's keys take turns, so that one key's multi-searches delay neither other
// queries nor other keys for long.
import { FairQueue } from "../../shards/protocol/fair-queue.js";
import type { RequestLife } from "../ground/jobs/request-life.js";
import { WaitingTurn } from "../ground/jobs/waiting-turn.js";

/** The searches of one tenant. */
interface Turns {
  running: number;
  readonly waiting: FairQueue<WaitingTurn>;
}

/** The key with which a multi-search was sent; null for the bootstrap key. */
type KeyId = number | null;

export class SlotTurns {
  readonly #atOnceMax: number;
  readonly #tenants = new Map<number, Turns>();

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  /** Runs `work` when it is its turn. Rejects if the request's life ends before that. */
  async run<T>(tenant: number, key: KeyId, life: RequestLife, work: () => Promise<T>): Promise<T> {
    const turns = this.#of(tenant);
    if (turns.running < this.#atOnceMax) turns.running++;
    else await this.#turn(turns, key ?? 0, life);
    try {
      life.check();
      return await work();
    } finally {
      // Many clients often leave at once. Once the event loop has handled all of that, it is known whether
      // the next one has left, too.
      if (life.over) setImmediate(() => this.#passOn(tenant, turns));
      else this.#passOn(tenant, turns);
    }
  }

  #turn({ waiting }: Turns, flow: number, life: RequestLife): Promise<void> {
    return new Promise((resolve, reject) => waiting.add(flow, new WaitingTurn(life, resolve, reject)));
  }

  /** Passes a turn that is over to the next waiting search. */
  #passOn(tenant: number, turns: Turns): void {
    for (let next = turns.waiting.take(); next !== undefined; next = turns.waiting.take()) {
      if (!next.item.begin()) continue;
      turns.waiting.spent(next.flow, 1);
      return;
    }
    turns.waiting.reset();
    if (--turns.running === 0) this.#tenants.delete(tenant);
  }

  #of(tenant: number): Turns {
    let turns = this.#tenants.get(tenant);
    if (turns === undefined) {
      turns = { running: 0, waiting: new FairQueue() };
      this.#tenants.set(tenant, turns);
    }
    return turns;
  }
}
