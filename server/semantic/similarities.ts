// How similar documents are to a query: the cosines of their vectors and the query's.

export class Similarities {
  static readonly none = new Similarities(new Map(), new Float32Array(0));
  /** Where the cosine of a document stands, by its sequence number. */
  readonly #places: ReadonlyMap<number, number>;
  /** NaN for a document without a vector. */
  readonly #cosines: Float32Array;

  constructor(places: ReadonlyMap<number, number>, cosines: Float32Array) {
    this.#places = places;
    this.#cosines = cosines;
  }

  /** Null for a document without a vector, and for one that was not compared. */
  of(seq: number): number | null {
    const place = this.#places.get(seq);
    const cosine = place === undefined ? Number.NaN : this.#cosines[place]!;
    return Number.isNaN(cosine) ? null : cosine;
  }

  /** That of the document that was compared in this place; NaN when it has no vector. */
  at(place: number): number {
    return this.#cosines[place]!;
  }

  /** The largest one, 0 at least. */
  get largest(): number {
    let largest = 0;
    for (const cosine of this.#cosines) if (cosine > largest) largest = cosine;
    return largest;
  }
}
