// The storage port: an ordered map of byte keys with atomic batches. test/conformance/store-suite.ts checks
// the guarantees that every store must give. Independent of what the keys and values mean.

export type StoreOp = { type: "put"; key: Uint8Array; value: Uint8Array } | { type: "del"; key: Uint8Array };

/** Keys with from <= key < to, compared byte by byte. */
export interface KeyRange {
  from: Uint8Array;
  to: Uint8Array;
}

export interface BatchOptions {
  /** True: once the promise resolves, this batch and everything before it survive a power failure. */
  sync: boolean;
  /**
   * True if the batch adds data. Such a batch is refused when the remaining disk space is reserved for
   * deletions.
   */
  adds?: boolean;
}

/**
 * The whole contents at one moment, unaffected by later writes. Keeps old data on disk until it is closed.
 */
export interface StoreSnapshot {
  /** In ascending order. Throws if the view or the store is closed during the iteration. */
  entries(range: KeyRange): AsyncIterableIterator<[key: Uint8Array, value: Uint8Array]>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface Store {
  /** Reads synchronously, which may block the thread for one disk access. */
  getSync(key: Uint8Array): Uint8Array | undefined;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** In the order of the keys; undefined for missing ones. */
  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /**
   * Applies all operations in order, or none. During the call the store may iterate over `ops` several times,
   * and each iteration must yield the same contents. An operation and its bytes need to stay unchanged only
   * until the next one is requested. Throws StoreWriteError if the disk is full or fails; a later batch makes
   * the store try to recover.
   */
  batch(ops: Iterable<StoreOp>, options: BatchOptions): Promise<void>;
  /** The entries in ascending order, as of the call. Leaving the loop closes the iterator. */
  entries(range: KeyRange): AsyncIterableIterator<[key: Uint8Array, value: Uint8Array]>;
  /** Like `entries`, without reading values. */
  keys(range: KeyRange): AsyncIterableIterator<Uint8Array>;
  /** Returns a view of the contents as of the call. The caller must close it. */
  view(): StoreSnapshot;
  /** Deletes a range, not atomically: a crash may leave part of it. */
  clear(range: KeyRange): Promise<void>;
  /** Approximate disk space of the range, including deleted and replaced values still on disk. */
  diskBytes(range: KeyRange): Promise<number>;
  /**
   * Frees the space of deleted and replaced values in the range. Reads and writes continue during the call.
   */
  compact(range: KeyRange): Promise<void>;
  /** Waits for running operations and closes the files. Idempotent. */
  close(): Promise<void>;
}

/** A write did not reach the disk, or may not have. Reads return the state before it. */
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

/** The database's own files are damaged: the database does not open, or a key is unreadable. */
export class StoreDamagedError extends Error {
  constructor(location: string, found: string, options?: ErrorOptions) {
    super(`the database at ${location} is damaged: ${found}`, options);
    this.name = "StoreDamagedError";
  }
}
