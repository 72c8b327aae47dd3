// The generations of one index at its owner: it numbers writes and publishes them in order. A generation is
// published when it and all before it are finished. A failed write finishes too, otherwise no later one would
// become visible. Pure bookkeeping, no clock, no I/O.
import { HeldGenerations } from "../reads/held-generations.js";
import { type IndexStanding, OWNER_PLACE } from "../reads/index-standing.js";

export class Generations extends HeldGenerations {
  #last: number;
  readonly #finished = new Set<number>();
  #waiting: { generation: number; resolve: () => void }[] = [];

  /** Continues after the generation that the standing records as published. */
  constructor(standing: IndexStanding) {
    super(standing, OWNER_PLACE);
    this.#last = standing.published;
  }

  /** Number of writes that have begun and are not yet published. */
  get pending(): number {
    return this.#last - this.published;
  }

  /** Returns the number of a new write. `finish` must follow, whatever happens. */
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
