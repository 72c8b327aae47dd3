// The storage port: an ordered map of byte keys with atomic batches. What holds for every store is proved by
// test/conformance/store-suite.ts. Knows no key and no value.

export type StoreOp = { type: "put"; key: Uint8Array; value: Uint8Array } | { type: "del"; key: Uint8Array };

/** Keys with from <= key < to, compared byte by byte. */
export interface KeyRange {
  from: Uint8Array;
  to: Uint8Array;
}

export interface BatchOptions {
  /** true: the batch and everything before it survives a power failure once the promise resolves. */
  sync: boolean;
  /** The batch adds data: it is refused while the disk has only the room that deletions need. */
  adds?: boolean;
}

/** The whole contents as of one moment, whatever is written later. Keeps old data on disk until it is closed. */
export interface StoreSnapshot {
  /** Ascending. Ends with an error when the view or the store is closed meanwhile. */
  entries(range: KeyRange): AsyncIterableIterator<[key: Uint8Array, value: Uint8Array]>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface Store {
  /** Reads at once, blocking the thread for a disk access at worst. */
  getSync(key: Uint8Array): Uint8Array | undefined;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** In the order of the keys; undefined where there is none. */
  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /**
   * Applies all operations in order, or none. The store may iterate over them more than once during the call, and must get
   * the same contents each time. An operation and its bytes must stay as they are only until the next one is asked for.
   * Throws StoreWriteError when the disk is full or fails; the store tries to write again by itself at a later batch.
   */
  batch(ops: Iterable<StoreOp>, options: BatchOptions): Promise<void>;
  /** The entries in ascending order, as of the moment of the call. Ending the loop closes the iterator. */
  entries(range: KeyRange): AsyncIterableIterator<[key: Uint8Array, value: Uint8Array]>;
  /** Like `entries`, without reading values. */
  keys(range: KeyRange): AsyncIterableIterator<Uint8Array>;
  /** The contents as of the call, to be closed by the caller. */
  view(): StoreSnapshot;
  /** Deletes a range. It is not atomic: a crash may leave part of the range. */
  clear(range: KeyRange): Promise<void>;
  /** About how much disk the range takes, including deleted and replaced values that are still on the disk. */
  diskBytes(range: KeyRange): Promise<number>;
  /** Gives back the room of values that were deleted or replaced in the range. Reads and writes go on meanwhile. */
  compact(range: KeyRange): Promise<void>;
  /** Waits for running operations and gives the files back. Idempotent. */
  close(): Promise<void>;
}

/** A write did not reach the disk, or may not have reached it. Reads show the state before that write. */
export class StoreWriteError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreWriteError";
  }
}

/** The database is being opened again after a failed write; a moment later it can be read. */
export class StoreReopeningError extends Error {
  constructor(location: string) {
    super(`the database at ${location} is being opened again`);
    this.name = "StoreReopeningError";
  }
}

/** The directory is in use by another process or thread. */
export class StoreLockedError extends Error {
  constructor(location: string, options?: ErrorOptions) {
    super(`the database at ${location} is in use by another process`, options);
    this.name = "StoreLockedError";
  }
}

/** The database's own files are damaged: it does not open, or a key cannot be read. */
export class StoreDamagedError extends Error {
  constructor(location: string, found: string, options?: ErrorOptions) {
    super(`the database at ${location} is damaged: ${found}`, options);
    this.name = "StoreDamagedError";
  }
}
