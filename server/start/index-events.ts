// Tells the objects that maintain indexes when an index has been opened or written to. This class exists
// because the shards report these events but are created before those objects.

export interface IndexWatcher {
  opened(uid: number): void;
  /** Called after the index's documents were written, or after the index was spread over other shards. */
  written(uid: number): void;
}

export class IndexEvents implements IndexWatcher {
  readonly #watchers: IndexWatcher[] = [];

  watch(watcher: IndexWatcher): void {
    this.#watchers.push(watcher);
  }

  readonly opened = (uid: number): void => {
    for (const watcher of this.#watchers) watcher.opened(uid);
  };

  readonly written = (uid: number): void => {
    for (const watcher of this.#watchers) watcher.written(uid);
  };
}
