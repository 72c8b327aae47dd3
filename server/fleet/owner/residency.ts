// Decides which indexes are loaded, and for how long. An index is opened when it is needed, once for any
// number of concurrent callers. It is unloaded when it has been idle for a while. If more indexes are loaded
// than allowed, the least recently used ones are unloaded first. An index in use always stays loaded. This
// file knows indexes only by number; callbacks open and unload them.

export interface ResidencyOptions {
  /** Maximum number of loaded indexes. Exceeded only if that many are in use or cannot be unloaded yet. */
  readonly loadedMax: number;
  readonly idleMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Loads an index. Some of its shards may have it loaded already. */
  readonly open: (id: number) => Promise<void>;
  /**
   * Unloads an index. Resolves with false if the index stays loaded because it is busy or used by another
   * thread.
   */
  readonly close: (id: number) => Promise<boolean>;
  /** Tells the other threads whether they may start using the index without asking the owner. */
  readonly mark: (id: number, isOpen: boolean) => void;
  /** Other threads' uses of the index: whether there are any now, and how many have ended. */
  readonly elsewhere: (id: number) => UsesElsewhere;
}

export interface UsesElsewhere {
  readonly isUsed: boolean;
  readonly ended: number;
}

/** Ends a use. Must be called exactly once. */
type End = () => void;

interface Entry {
  readonly id: number;
  /**
   * `partial`: one of the index's shards has lost it (its thread was restarted), so the index must be opened
   * again before its next use.
   */
  state: "closed" | "opening" | "open" | "partial" | "closing";
  uses: number;
  /** When the last use ended, in milliseconds of `now`. */
  usedMs: number;
  /** How many uses by other threads had ended at the last check. */
  ended: number;
  /**
   * Until this time, `#makeRoom` does not try to unload the index again, because the last attempt failed or
   * found it busy.
   */
  busyUntilMs: number;
  /**
   * In the states "opening" and "closing": settles when the index has been opened or unloaded. Rejects if
   * opening fails.
   */
  change: Promise<void>;
}

/** Delay (ms) before retrying to unload a busy index. */
const BUSY_MS = 1_000;

export class Residency {
  /** All indexes except those that are closed and unused. */
  readonly #entries = new Map<number, Entry>();
  readonly #options: ResidencyOptions;
  /** Number of calls of `lost`. */
  #losses = 0;
  #loaded = 0;
  #openings = 0;
  #unloads = 0;

  constructor(options: ResidencyOptions) {
    this.#options = options;
  }

  /** Number of indexes that are loaded or being loaded. */
  get loaded(): number {
    return this.#loaded;
  }

  /** Number of indexes opened since startup. */
  get openings(): number {
    return this.#openings;
  }

  /** Number of indexes unloaded since startup. */
  get unloads(): number {
    return this.#unloads;
  }

  /** True if the index can be used without waiting. */
  isOpen(id: number): boolean {
    return this.#entries.get(id)?.state === "open";
  }

  /**
   * Resolves when the index is open. The index stays open until the returned function is called. Rejects if
   * the index cannot be opened.
   */
  async begin(id: number): Promise<End> {
    const entry = this.#entry(id);
    entry.uses++;
    try {
      while (entry.state !== "open") await this.#change(entry);
    } catch (error) {
      this.#end(entry);
      throw error;
    }
    return this.#endOnce(entry);
  }

  /**
   * Like `begin`, but never starts opening the index. Waits for an opening or unloading in progress. Resolves
   * with undefined if the index is not open after that.
   */
  async beginLoaded(id: number): Promise<End | undefined> {
    const entry = this.#entries.get(id);
    if (entry?.state === "closing") await entry.change;
    // An error is reported to the caller that started opening the index.
    else if (entry?.state === "opening") await entry.change.catch(() => undefined);
    return this.isOpen(id) ? this.keep(id) : undefined;
  }

  /** Starts a use without waiting. The index must be open or being opened. */
  keep(id: number): End {
    const entry = this.#entry(id);
    entry.uses++;
    return this.#endOnce(entry);
  }

  /**
   * Opens an index that is not open yet, without keeping it in use. If as many indexes are loaded as allowed,
   * this one becomes the next to be unloaded, so that a series of visits does not displace all other indexes.
   */
  async visit(id: number): Promise<void> {
    if (this.isOpen(id)) return;
    const entry = this.#entry(id);
    const end = await this.begin(id);
    const crowded = this.loaded >= this.#options.loadedMax;
    end();
    if (crowded && !this.#isUsed(entry)) entry.usedMs = Number.NEGATIVE_INFINITY;
  }

  /** Call when the index has been deleted. */
  forget(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#set(entry, "closed");
    this.#entries.delete(id);
  }

  /**
   * Records that a shard has lost all indexes. Returns the indexes in use, which the caller must reopen in
   * that shard before doing anything else. The others are reopened at their next use.
   */
  lost(): number[] {
    this.#losses++;
    const used: number[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.state !== "open") continue;
      this.#set(entry, "partial"); // before checking for uses, so that a thread that begins one now sees it
      if (!this.#isUsed(entry)) continue;
      this.#set(entry, "open");
      used.push(entry.id);
    }
    return used;
  }

  /** Unloads idle indexes. Must be called periodically. */
  async sweep(): Promise<void> {
    this.#lookElsewhere();
    const before = this.#options.now() - this.#options.idleMs;
    const idle = [...this.#entries.values()].filter((entry) => this.#idle(entry) && entry.usedMs <= before);
    for (const entry of idle) if (this.#idle(entry)) await this.#unload(entry);
    await this.#makeRoom();
  }

  #entry(id: number): Entry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const usedMs = this.#options.now();
    const entry: Entry = {
      id,
      state: "closed",
      uses: 0,
      usedMs,
      ended: this.#options.elsewhere(id).ended,
      busyUntilMs: 0,
      change: Promise.resolve(),
    };
    this.#entries.set(id, entry);
    return entry;
  }

  /**
   * Waits for the opening or unloading in progress. If there is none, starts opening the index and waits for
   * that.
   */
  async #change(entry: Entry): Promise<void> {
    if (entry.state === "closed" || entry.state === "partial") {
      const before = entry.state;
      this.#set(entry, "opening");
      entry.change = this.#open(entry, before);
    }
    await entry.change;
  }

  async #open(entry: Entry, before: "closed" | "partial"): Promise<void> {
    let losses: number;
    try {
      await this.#makeRoom();
      do {
        losses = this.#losses;
        await this.#options.open(entry.id);
      } while (losses !== this.#losses);
    } catch (error) {
      this.#set(entry, before);
      throw error;
    }
    this.#set(entry, "open");
    this.#openings++;
  }

  /**
   * Unloads the least recently used indexes until no more are loaded than allowed, or until the rest are in
   * use or busy.
   */
  async #makeRoom(): Promise<void> {
    if (this.loaded > this.#options.loadedMax) this.#lookElsewhere();
    while (this.loaded > this.#options.loadedMax) {
      const now = this.#options.now();
      let oldest: Entry | undefined;
      for (const entry of this.#entries.values()) {
        if (!this.#idle(entry) || entry.busyUntilMs > now) continue;
        if (oldest === undefined || entry.usedMs < oldest.usedMs) oldest = entry;
      }
      if (oldest === undefined) return;
      await this.#unload(oldest);
    }
  }

  #set(entry: Entry, state: Entry["state"]): void {
    if (this.#entries.get(entry.id) === entry) this.#loaded += counted(state) - counted(entry.state);
    entry.state = state;
    this.#options.mark(entry.id, state === "open");
  }

  #idle(entry: Entry): boolean {
    return (entry.state === "open" || entry.state === "partial") && !this.#isUsed(entry);
  }

  #isUsed({ id, uses }: Entry): boolean {
    return uses > 0 || this.#options.elsewhere(id).isUsed;
  }

  /** Indexes that other threads have used since the last check count as used just now. */
  #lookElsewhere(): void {
    const now = this.#options.now();
    for (const entry of this.#entries.values()) {
      const { ended } = this.#options.elsewhere(entry.id);
      if (ended !== entry.ended) entry.usedMs = now;
      entry.ended = ended;
    }
  }

  async #unload(entry: Entry): Promise<void> {
    const before = entry.state;
    const losses = this.#losses;
    this.#set(entry, "closing");
    let closed = false;
    let failed = false;
    const work = this.#options.close(entry.id).then(
      (done) => {
        closed = done;
      },
      () => {
        failed = true;
      },
    );
    entry.change = work.then(() => {
      if (closed) {
        this.#set(entry, "closed");
        this.#unloads++;
        if (entry.uses === 0 && this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
        return;
      }
      this.#set(entry, failed || losses !== this.#losses ? "partial" : before);
      entry.busyUntilMs = this.#options.now() + BUSY_MS;
    });
    await entry.change;
  }

  #endOnce(entry: Entry): End {
    let ended = false;
    return () => {
      if (!ended) this.#end(entry);
      ended = true;
    };
  }

  #end(entry: Entry): void {
    entry.uses--;
    if (entry.uses > 0) return;
    entry.usedMs = this.#options.now();
    if (this.#entries.get(entry.id) !== entry) return;
    if (entry.state === "closed") this.#entries.delete(entry.id);
    else if (this.loaded > this.#options.loadedMax) void this.#makeRoom();
  }
}

function counted(state: Entry["state"]): number {
  return state === "closed" || state === "closing" ? 0 : 1;
}
