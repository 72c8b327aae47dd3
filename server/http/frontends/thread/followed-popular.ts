// What is popular in the indexes, as the owner tells it. Searches use what is known; what is old is asked for again beside them.
import { ClockCache } from "../../../../engine-wasm/host/runtime/clock-cache.js";
import type { IndexRecord } from "../../../catalog/records/index-record.js";
import type { Logger } from "../../../ground/log.js";
import { NOTHING_POPULAR } from "../../../query-log/popularity/popularity.js";
import type { Popular } from "../../../query-log/reports/popular.js";
import type { ThreadChannel } from "../channel.js";
import type { OwnerCalls } from "../messages.js";

/** The owner is asked again after so long, if the index is searched. */
const AGE_MS = 2_000;
/** Maximum cached indexes. */
const INDEXES_MAX = 1_000;

interface Known {
  popular: Popular;
  askAgainMs: number;
}

export class FollowedPopular {
  readonly #owner: ThreadChannel<OwnerCalls>;
  readonly #log: Logger;
  /** By uid. */
  readonly #known = new ClockCache<number, Known>(INDEXES_MAX);

  constructor(owner: ThreadChannel<OwnerCalls>, log: Logger) {
    this.#owner = owner;
    this.#log = log;
  }

  /** As far as it is known; the same object until something else is known. */
  of({ uid }: IndexRecord): Popular {
    const known = this.#known.get(uid) ?? this.#add(uid);
    if (performance.now() >= known.askAgainMs) void this.#ask(uid, known);
    return known.popular;
  }

  #add(uid: number): Known {
    const known = { popular: NOTHING_POPULAR, askAgainMs: 0 };
    this.#known.set(uid, known);
    return known;
  }

  async #ask(uid: number, known: Known): Promise<void> {
    known.askAgainMs = Number.POSITIVE_INFINITY; // until the answer is there
    try {
      const isKnown = known.popular !== NOTHING_POPULAR;
      const popular = await this.#owner.ask("popular", { uid, known: isKnown });
      if (popular !== null) known.popular = popular;
    } catch (error) {
      this.#log.debug({ err: error, uid }, "the owner did not say what is popular");
    }
    known.askAgainMs = performance.now() + AGE_MS;
  }
}
