// Which indexes are loaded, and for how long: one is opened when somebody needs it (once, however many ask),
// and unloaded when nobody has used it for a while or when more are loaded than there may be, the least
// recently used one first. One that is in use stays, even if there are too many then. Knows indexes as
// numbers and neither what opening is nor where it happens.

export interface ResidencyOptions {
  /** More are loaded only while more are in use. */
  readonly loadedMax: number;
  readonly idleMs: number;
  /** Ascending milliseconds. */
  readonly now: () => number;
  /** Loads an index; also one that is loaded in part. */
  readonly open: (id: number) => Promise<void>;
  /** Unloads an index. False when it has work of its own, or is used elsewhere, and stays loaded. */
  readonly close: (id: number) => Promise<boolean>;
  /** Tells whether others may begin to use the index by themselves. */
  readonly mark: (id: number, isOpen: boolean) => void;
  /** Such uses: whether there are any, and how many have ended so far. */
  readonly elsewhere: (id: number) => UsesElsewhere;
}

export interface UsesElsewhere {
  readonly isUsed: boolean;
  readonly ended: number;
}

/** Ends a use; to be called once. */
type End = () => void;

interface Entry {
  readonly id: number;
  /** `partial`: a part of it was lost; it is opened again before its next use. */
  state: "closed" | "opening" | "open" | "partial" | "closing";
  uses: number;
  /** When the last use ended. */
  usedMs: number;
  /** Of elsewhere, when that was looked at last. */
  ended: number;
  /** It had work of its own when it should have been unloaded. */
  busyUntilMs: number;
  /** Of the states "opening" and "closing"; rejects when opening fails. */
  change: Promise<void>;
}

/** Then an index that had work is tried again. */
const BUSY_MS = 1_000;

export class Residency {
  /** All but those that are closed and not in use. */
  readonly #entries = new Map<number, Entry>();
  readonly #options: ResidencyOptions;
  /** Goes up whenever parts of all indexes were lost. */
  #losses = 0;
  #loaded = 0;
  #openings = 0;
  #unloads = 0;

  constructor(options: ResidencyOptions) {
    this.#options = options;
  }

  /** Indexes that are loaded or being loaded. */
  get loaded(): number {
    return this.#loaded;
  }

  /** Since the start. */
  get openings(): number {
    return this.#openings;
  }

  /** Since the start. */
  get unloads(): number {
    return this.#unloads;
  }

  /** It can be used without waiting. */
  isOpen(id: number): boolean {
    return this.#entries.get(id)?.state === "open";
  }

  /**
   * Resolves when the index is open, which it stays until the answer is called. Rejects when it does not
   * open.
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
   * As `begin` of an index that is open; undefined for others. One that is being opened, or unloaded and may
   * stay, is waited for.
   */
  async beginLoaded(id: number): Promise<End | undefined> {
    const entry = this.#entries.get(id);
    if (entry?.state === "closing") await entry.change;
    else if (entry?.state === "opening") await entry.change.catch(() => undefined); // whoever opens it hears why it does not
    return this.isOpen(id) ? this.keep(id) : undefined;
  }

  /** A use of an index that is open or being opened, at once. */
  keep(id: number): End {
    const entry = this.#entry(id);
    entry.uses++;
    return this.#endOnce(entry);
  }

  /**
   * Opens an index once, without pushing used ones out: when all places are taken, visitors follow each other
   * in one.
   */
  async visit(id: number): Promise<void> {
    if (this.isOpen(id)) return;
    const entry = this.#entry(id);
    const end = await this.begin(id);
    const crowded = this.loaded >= this.#options.loadedMax;
    end();
    if (crowded && !this.#isUsed(entry)) entry.usedMs = Number.NEGATIVE_INFINITY;
  }

  /** The index does not exist any more. */
  forget(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#set(entry, "closed");
    this.#entries.delete(id);
  }

  /**
   * A part of every index was lost. Those in use are the answer, to be opened again by the caller before
   * anybody goes on with them; the others follow at their next use.
   */
  lost(): number[] {
    this.#losses++;
    const used: number[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.state !== "open") continue;
      this.#set(entry, "partial"); // first: who begins a use elsewhere now sees it
      if (!this.#isUsed(entry)) continue;
      this.#set(entry, "open");
      used.push(entry.id);
    }
    return used;
  }

  /** Unloads what was not used for long. To be called from time to time. */
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

  /** Waits for the change under way, or begins to open. */
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

  /** Unloads the least recently used until there are not too many, or all are in use. */
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

  /** Learns which indexes were used elsewhere since the last look. */
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
