// A store whose disk can be frozen at any sync, as a power failure would: synced data stays, everything else
// is lost, and the batch being synced is kept or lost as a whole.
import {
  type BatchOptions,
  type KeyRange,
  type Store,
  type StoreOp,
  type StoreSnapshot,
  StoreWriteError,
} from "../../shards/storage/store.js";

type Values = Map<string, Uint8Array>;

/** Encodes a key as text that sorts in byte order. */
function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString("latin1");
}

/** The power of one machine, on which all of its disks depend. */
class Power {
  /** Number of failures so far. A store works until the first failure after it was opened. */
  failures = 0;
  syncs = 0;
  freezeAt = 0;
}

/** The data that survives a crash, and the settings for when the disk freezes. */
export class CrashDisk {
  readonly durable: Values = new Map();
  readonly power: Power;
  /** Batches for which this returns true fail as on a full disk, without changing anything. */
  refuses: (options: BatchOptions) => boolean = () => false;
  /** True if the batch being synced when the disk freezes is kept. */
  keepsLast = false;
  /** True if the disk writes everything immediately, so that batches without a sync also count as syncs. */
  isEager = false;

  constructor(power = new Power()) {
    this.power = power;
  }

  /** Returns disks that freeze at the same moment. */
  static several(count: number): CrashDisk[] {
    const power = new Power();
    return Array.from({ length: count }, () => new CrashDisk(power));
  }

  /** Number of syncs of all disks that depend on the same power. */
  get syncs(): number {
    return this.power.syncs;
  }

  /** The sync, counted from 1, at which the disks freeze; 0 means never. */
  get freezeAt(): number {
    return this.power.freezeAt;
  }

  set freezeAt(sync: number) {
    this.power.freezeAt = sync;
  }
}

export class FrozenError extends Error {
  constructor() {
    super("the store is frozen");
    this.name = "FrozenError";
  }
}

export class CrashStore implements Store {
  readonly #disk: CrashDisk;
  readonly #values: Values;
  readonly #failures: number;
  #ended = false;
  #closed = false;

  constructor(disk: CrashDisk) {
    this.#disk = disk;
    this.#failures = disk.power.failures;
    this.#values = new Map(disk.durable);
  }

  getSync(key: Uint8Array): Uint8Array | undefined {
    this.#check();
    return this.#values.get(textOf(key));
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.getSync(key);
  }

  async getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return keys.map((key) => this.getSync(key));
  }

  async batch(ops: Iterable<StoreOp>, options: BatchOptions): Promise<void> {
    const { sync } = options;
    await new Promise((resolve) => setImmediate(resolve));
    this.#check();
    if (this.#disk.refuses(options)) throw new StoreWriteError("the disk is full");
    if (!sync && !this.#disk.isEager) {
      apply(this.#values, ops);
      return;
    }
    const freezes = this.#reachesFreeze();
    if (freezes && !this.#disk.keepsLast) throw new FrozenError();
    apply(this.#values, ops);
    this.#save();
    if (freezes) throw new FrozenError();
  }

  #reachesFreeze(): boolean {
    const { power } = this.#disk;
    power.syncs++;
    if (power.syncs !== power.freezeAt) return false;
    power.failures++;
    return true;
  }

  #save(): void {
    this.#disk.durable.clear();
    for (const [key, value] of this.#values) this.#disk.durable.set(key, value);
  }

  async *entries(range: KeyRange): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    this.#check();
    const [from, to] = [textOf(range.from), textOf(range.to)];
    const found = [...this.#values].filter(([key]) => from <= key && key < to);
    found.sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [key, value] of found) yield [Buffer.from(key, "latin1"), value];
  }

  async *keys(range: KeyRange): AsyncIterableIterator<Uint8Array> {
    for await (const [key] of this.entries(range)) yield key;
  }

  view(): StoreSnapshot {
    const then = new CrashStore(this.#disk);
    then.#values.clear();
    for (const [key, value] of this.#values) then.#values.set(key, value);
    return { entries: (range) => then.entries(range), close: () => then.close() };
  }

  async clear(range: KeyRange): Promise<void> {
    const keys: Uint8Array[] = [];
    for await (const key of this.keys(range)) keys.push(key);
    const freezes = this.#disk.isEager && keys.length > 0 && this.#reachesFreeze();
    if (freezes) keys.splice(this.#disk.keepsLast ? Math.ceil(keys.length / 2) : 0); // deletes half, or none
    apply(
      this.#values,
      keys.map((key) => ({ type: "del", key })),
    );
    if (this.#disk.isEager) this.#save();
    if (freezes) throw new FrozenError();
  }

  async diskBytes(): Promise<number> {
    return 0;
  }

  async compact(): Promise<void> {
    this.#check();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Ends the store as the death of its thread would: what was written stays. */
  end(): void {
    if (!this.#ended) this.#save();
    this.#ended = true;
  }

  #check(): void {
    if (this.#ended || this.#failures !== this.#disk.power.failures) throw new FrozenError();
    if (this.#closed) throw new Error("the store is closed");
  }
}

/** Applies all operations, or none if `ops` throws while it is read. */
function apply(values: Values, ops: Iterable<StoreOp>): void {
  const changes = Array.from(ops, (op): [string, Uint8Array | null] => {
    return [textOf(op.key), op.type === "put" ? Uint8Array.from(op.value) : null];
  });
  for (const [key, value] of changes) {
    if (value === null) values.delete(key);
    else values.set(key, value);
  }
}
