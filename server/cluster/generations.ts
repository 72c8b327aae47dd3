// The generations of one index: numbers for writes, their publication in order, and which ones reads still
// hold. A generation is published when it and all before it are finished; a failed write finishes too, or
// nothing after it would ever become visible. Pure bookkeeping, no clock, no I/O.

export class Generations {
  #last: number;
  #published: number;
  readonly #finished = new Set<number>();
  readonly #held = new Map<number, number>();
  #waiting: { generation: number; resolve: () => void }[] = [];

  /** `published`: the highest generation that a shard has stored. */
  constructor(published: number) {
    this.#last = published;
    this.#published = published;
  }

  /** What a read that starts now sees. */
  get published(): number {
    return this.#published;
  }

  /** Writes that have begun and are not published. */
  get pending(): number {
    return this.#last - this.#published;
  }

  /** Lowest generation that a read holds or may still take. */
  get oldest(): number {
    let oldest = this.#published;
    for (const generation of this.#held.keys()) oldest = Math.min(oldest, generation);
    return oldest;
  }

  /** The number of a new write. `finish` must follow, whatever happens. */
  begin(): number {
    return ++this.#last;
  }

  /** The write is stored in all shards that take part, or has failed. */
  finish(generation: number): void {
    this.#finished.add(generation);
    while (this.#finished.delete(this.#published + 1)) this.#published++;
    const waiting = this.#waiting.filter((entry) => entry.generation > this.#published);
    const ready = this.#waiting.filter((entry) => entry.generation <= this.#published);
    this.#waiting = waiting;
    for (const { resolve } of ready) resolve();
  }

  /** Resolves once reads that start see this generation. */
  async visible(generation: number): Promise<void> {
    if (generation <= this.#published) return;
    await new Promise<void>((resolve) => this.#waiting.push({ generation, resolve }));
  }

  /** The published generation, kept until `release`. */
  hold(): number {
    this.#held.set(this.#published, (this.#held.get(this.#published) ?? 0) + 1);
    return this.#published;
  }

  release(generation: number): void {
    const count = this.#held.get(generation) ?? 0;
    if (count <= 1) this.#held.delete(generation);
    else this.#held.set(generation, count - 1);
  }
}
