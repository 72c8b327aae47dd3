// The generations of one index, as its owner gives them: numbers for writes, and their publication in order.
// A generation is published when it and all before it are finished; a failed write finishes too, or nothing
// after it would ever become visible. Pure bookkeeping, no clock, no I/O.
import { HeldGenerations } from "../reads/held-generations.js";
import { type IndexStanding, OWNER_PLACE } from "../reads/index-standing.js";

export class Generations extends HeldGenerations {
  #last: number;
  readonly #finished = new Set<number>();
  #waiting: { generation: number; resolve: () => void }[] = [];

  /** Goes on behind the generation that the standing says is published. */
  constructor(standing: IndexStanding) {
    super(standing, OWNER_PLACE);
    this.#last = standing.published;
  }

  /** Writes that have begun and are not published. */
  get pending(): number {
    return this.#last - this.published;
  }

  /** The number of a new write. `finish` must follow, whatever happens. */
  begin(): number {
    return ++this.#last;
  }

  /** The write is stored in all shards that take part, or has failed. */
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

  /** Resolves once reads that start see this generation. */
  async visible(generation: number): Promise<void> {
    if (generation <= this.published) return;
    await new Promise<void>((resolve) => this.#waiting.push({ generation, resolve }));
  }
}
