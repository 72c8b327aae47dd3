// The generations of one index, kept by its owner, which numbers the writes and publishes them in order. A
// generation is published when it and all earlier ones have finished. A failed write finishes too, because
// later ones could otherwise never become visible. Pure bookkeeping without a clock or I/O.
import { HeldGenerations } from "../reads/held-generations.js";
import { type IndexStanding, OWNER_PLACE } from "../reads/index-standing.js";

export class Generations extends HeldGenerations {
  #last: number;
  readonly #finished = new Set<number>();
  #waiting: { generation: number; resolve: () => void }[] = [];

  /** Continues after the published generation recorded in `standing`. */
  constructor(standing: IndexStanding) {
    super(standing, OWNER_PLACE);
    this.#last = standing.published;
  }

  /** Number of writes that have begun but are not yet published. */
  get pending(): number {
    return this.#last - this.published;
  }

  /** Starts a write and returns its generation. `finish` must follow, whatever happens. */
  begin(): number {
    return ++this.#last;
  }

  /** Records that the write is stored in all of its shards, or has failed. */
  finish(generation: number): void {
    this.#finished.add(generation);
    let { published } = this;
    while (this.#finished.delete(published + 1)) published++;
    this.standing.published = published;
    const waiting = this.#waiting.filter((entry) => entry.generation > published);
    const ready = this.#waiting.filter((entry) => entry.generation <= published);
    this.#waiting = waiting;
    for (const { resolve } of ready) resolve();
  }

  /** Resolves once new reads see this generation. */
  async visible(generation: number): Promise<void> {
    if (generation <= this.published) return;
    await new Promise<void>((resolve) => this.#waiting.push({ generation, resolve }));
  }
}
