// A naive model of data source runs: documents in a map, each with the time of its last write. A run receives
// its feed's items as they arrive. At its end, it deletes the documents that it has not seen in the feed,
// except those that anyone has written since it began. It fails instead of deleting anything if the feed was
// empty, if an item could not be identified, or if it would delete too large a share of the documents.

export interface FeedDocument {
  readonly id: string;
  readonly title: string;
  readonly price: number;
}

/** One item of a feed: a document, or an item that failed, with its id if it has one. */
export type FeedEntry = FeedDocument | { readonly broken: string | null };

export interface ExpectedRun {
  readonly status: "completed" | "failed" | "cancelled";
  readonly error_code: string | null;
  readonly documents_imported: number;
  readonly documents_unchanged: number;
  readonly documents_failed: number;
  readonly documents_deleted: number;
}

export class DocumentsTwin {
  readonly #stored = new Map<string, { document: FeedDocument; moment: number }>();
  #moment = 0;

  get size(): number {
    return this.#stored.size;
  }

  get documents(): Record<string, FeedDocument> {
    return Object.fromEntries([...this.#stored].map(([id, { document }]) => [id, document]));
  }

  get(id: string): FeedDocument | undefined {
    return this.#stored.get(id)?.document;
  }

  momentOf(id: string): number | undefined {
    return this.#stored.get(id)?.moment;
  }

  put(document: FeedDocument): void {
    this.#stored.set(document.id, { document, moment: ++this.#moment });
  }

  delete(id: string): void {
    this.#stored.delete(id);
  }

  beginRun(deletes: { readonly ratio: number } | null): RunTwin {
    return new RunTwin(this, deletes, this.#moment);
  }
}

export class RunTwin {
  readonly #index: DocumentsTwin;
  readonly #deletes: { readonly ratio: number } | null;
  readonly #began: number;
  readonly #documentsBefore: number;
  /** Write times of the documents seen in the feed. */
  readonly #seen = new Set<number>();
  #items = 0;
  #imported = 0;
  #unchanged = 0;
  #failed = 0;
  /** Number of failed items without an id, which could be any of the documents. */
  #unknown = 0;

  constructor(index: DocumentsTwin, deletes: { readonly ratio: number } | null, began: number) {
    this.#index = index;
    this.#deletes = deletes;
    this.#began = began;
    this.#documentsBefore = index.size;
  }

  get items(): number {
    return this.#items;
  }

  /**
   * Processes a batch of items. If several share an id, the last document wins and the others count as
   * failed.
   */
  batch(entries: readonly FeedEntry[]): void {
    this.#items += entries.length;
    const documents = entries.filter((entry) => "id" in entry);
    const last = new Map(documents.map((document) => [document.id, document]));
    this.#failed += entries.length - last.size;
    for (const document of last.values()) this.#take(document);
    for (const entry of entries) {
      if ("id" in entry) continue;
      if (entry.broken === null) this.#unknown++;
      else this.#see(entry.broken);
    }
  }

  #take(document: FeedDocument): void {
    const { title, price } = this.#index.get(document.id) ?? {};
    if (title === document.title && price === document.price) this.#unchanged++;
    else {
      this.#index.put(document);
      this.#imported++;
    }
    this.#see(document.id);
  }

  #see(id: string): void {
    const moment = this.#index.momentOf(id);
    if (moment !== undefined) this.#seen.add(moment);
  }

  /**
   * Ends a run that has read the whole feed. Deletes the unseen documents if the source's settings and the
   * rules above require it. Returns the expected outcome.
   */
  end(): ExpectedRun {
    if (this.#deletes === null) return this.#outcome("completed", null);
    if (this.#items === 0) return this.fail("SK-DS-409");
    if (this.#unknown > 0) return this.fail("SK-DS-422");
    const unseen = Object.keys(this.#index.documents).filter((id) => {
      const moment = this.#index.momentOf(id)!;
      return moment <= this.#began && !this.#seen.has(moment);
    });
    if (unseen.length > this.#deletes.ratio * this.#documentsBefore) return this.fail("SK-DS-409");
    for (const id of unseen) this.#index.delete(id);
    return { ...this.#outcome("completed", null), documents_deleted: unseen.length };
  }

  fail(code: string): ExpectedRun {
    return this.#outcome("failed", code);
  }

  cancel(): ExpectedRun {
    return this.#outcome("cancelled", null);
  }

  #outcome(status: ExpectedRun["status"], code: string | null): ExpectedRun {
    return {
      status,
      error_code: code,
      documents_imported: this.#imported,
      documents_unchanged: this.#unchanged,
      documents_failed: this.#failed,
      documents_deleted: 0,
    };
  }
}
