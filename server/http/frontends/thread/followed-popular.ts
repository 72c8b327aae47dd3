// A front-end's copies of the popular queries and documents of indexes, requested from the owner. Searches
// never wait for them: a search uses the current copy, and if that is old, starts a refresh in the
// background.
import { ClockCache } from "../../../../engine-wasm/host/runtime/clock-cache.js";
import type { IndexRecord } from "../../../catalog/records/index-record.js";
import type { Logger } from "../../../ground/log.js";
import { NOTHING_POPULAR } from "../../../query-log/popularity/popularity.js";
import type { Popular } from "../../../query-log/reports/popular.js";
import type { ThreadChannel } from "../channel.js";
import type { OwnerCalls } from "../messages.js";

/** A search refreshes its index's copy if the copy is at least this old (ms). */
const AGE_MS = 2_000;
/** Maximum number of indexes with a copy. */
const INDEXES_MAX = 1_000;

interface Known {
  popular: Popular;
  askAgainMs: number;
}

export class FollowedPopular {
  readonly #owner: ThreadChannel<OwnerCalls>;
  readonly #log: Logger;
  /** By index uid. */
  readonly #known = new ClockCache<number, Known>(INDEXES_MAX);

  constructor(owner: ThreadChannel<OwnerCalls>, log: Logger) {
    this.#owner = owner;
    this.#log = log;
  }

  /**
   * Returns the current copy, which is empty until the owner has replied. Returns the same object until the
   * copy changes.
   */
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
    known.askAgainMs = Number.POSITIVE_INFINITY; // send no second request before the reply has arrived
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
