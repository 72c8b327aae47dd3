// One index's generations. The owner numbers the writes and publishes them in order: a generation is
// published once it and all earlier ones have finished. A failed write must finish too, or later writes could
// never become visible. Only keeps the numbers; uses no clock and no I/O.
import { HeldGenerations } from "../reads/held-generations.js";
import { type IndexStanding, OWNER_PLACE } from "../reads/index-standing.js";

export class Generations extends HeldGenerations {
  #last: number;
  readonly #finished = new Set<number>();
  #waiting: { generation: number; resolve: () => void }[] = [];

  /** Continues from the published generation in `standing`. */
  constructor(standing: IndexStanding) {
    super(standing, OWNER_PLACE);
    this.#last = standing.published;
  }

  /** Number of writes begun but not yet published. */
  get pending(): number {
    return this.#last - this.published;
  }

  /** Begins a write and returns its generation. The caller must call `finish` even if the write fails. */
  begin(): number {
    return ++this.#last;
  }

  /** Ends a write: all its shards have stored it, or it has failed. */
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
