// Tells the parts that look after indexes that one was opened or written. The shards, which notice it, are made before these parts.

export interface IndexWatcher {
  opened(uid: number): void;
  /** Documents of it were written, or it was spread over other shards. */
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
