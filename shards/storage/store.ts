// The interface of a store, which is an ordered map of byte keys with atomic batches.
// test/conformance/store-suite.ts checks the guarantees that every store must give. Knows nothing about the
// meaning of keys and values.

export type StoreOp = { type: "put"; key: Uint8Array; value: Uint8Array } | { type: "del"; key: Uint8Array };

/** Keys with from <= key < to, compared byte by byte. */
export interface KeyRange {
  from: Uint8Array;
  to: Uint8Array;
}

export interface BatchOptions {
  /** If true, this batch and all earlier ones survive a power failure once the promise has resolved. */
  sync: boolean;
  /**
   * True if the batch adds data. Such a batch is refused when the remaining disk space is reserved for
   * deletions.
   */
  adds?: boolean;
}

/**
 * The store's whole contents at one moment, unaffected by later writes. Keeps old data on disk until it is
 * closed.
 */
export interface StoreSnapshot {
  /** Yields entries in ascending order. Throws if the view or the store is closed during the iteration. */
  entries(range: KeyRange): AsyncIterableIterator<[key: Uint8Array, value: Uint8Array]>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface Store {
  /** Reads synchronously, which may block the thread for one disk access. */
  getSync(key: Uint8Array): Uint8Array | undefined;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** Returns the values in the order of the keys; undefined for a missing key. */
  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /**
   * Applies either all operations, in order, or none. During the call, the store may iterate over `ops`
   * several times, and each iteration must yield the same contents. An operation and its bytes may change
   * once the next operation is requested. Throws StoreWriteError if the disk is full or fails; the next batch
   * then makes the store try to recover.
   */
  batch(ops: Iterable<StoreOp>, options: BatchOptions): Promise<void>;
  /** Yields the entries at the time of the call, in ascending order. Leaving the loop closes the iterator. */
  entries(range: KeyRange): AsyncIterableIterator<[key: Uint8Array, value: Uint8Array]>;
  /** Like `entries`, without reading values. */
  keys(range: KeyRange): AsyncIterableIterator<Uint8Array>;
  /** Returns a view of the contents at the time of the call. The caller must close it. */
  view(): StoreSnapshot;
  /** Deletes a range. Not atomic: after a crash, part of the range may remain. */
  clear(range: KeyRange): Promise<void>;
  /**
   * Approximate disk space used by the range, including deleted and replaced values that are still on disk.
   */
  diskBytes(range: KeyRange): Promise<number>;
  /**
   * Frees the space of deleted and replaced values in the range. Reads and writes continue during the call.
   */
  compact(range: KeyRange): Promise<void>;
  /** Waits for running operations and closes the files. Idempotent. */
  close(): Promise<void>;
}

/** A write did not reach the disk, or may not have reached it. Reads return the state before the write. */
export class StoreWriteError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreWriteError";
  }
}

/** The database is being reopened after a failed write and will be readable again shortly. */
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

/** The database's own files are damaged: either the database does not open, or a key is unreadable. */
export class StoreDamagedError extends Error {
  constructor(location: string, found: string, options?: ErrorOptions) {
    super(`the database at ${location} is damaged: ${found}`, options);
    this.name = "StoreDamagedError";
  }
}
