// Counts each tenant's monthly usage, in memory shared by all threads (docs/FORMATS.md, Tables between
// threads). A tenant's id is its row number, because ids are small and never reused. In each row every thread
// has its own words, which no other running thread writes; the tenant's usage is their sum. Knows nothing
// about the catalog.
//
// A thread first reserves a use in its own word and then adds up all threads' words. If two threads reserve
// the last unit at the same time, whichever stores later sees the other's reservation, so the plan's limit is
// never exceeded. If each thread sees the other's reservation, both are refused. Every step is a single
// store, so a thread that dies between two steps leaves no wrong count: the owner only has to drop that
// thread's uses in progress.
import { type ErrorCode, SkeinError } from "../../ground/errors.js";
import type { Metered, MonthlyCounter, MonthUsage, UseUnderWay } from "./limiter.js";
import type { Plan } from "./plans.js";

interface Quota {
  /** Index of this quota's count among the counts for one month. */
  readonly kind: number;
  readonly limitOf: (plan: Plan) => number | null;
  readonly code: ErrorCode;
  /** What the plan counts, in the plural, for error messages. */
  readonly what: string;
}
const QUOTAS: Readonly<Record<Metered, Quota>> = {
  searches: { kind: 0, limitOf: (plan) => plan.searches_per_month, code: "SK-SYS-429", what: "searches" },
  coach: { kind: 1, limitOf: (plan) => plan.coach_per_month, code: "SK-AI-429", what: "analyses" },
};
const KINDS = 2;

/**
 * A row has one count per kind for even months, followed by one per kind for odd months. A count has one word
 * per thread.
 */
const HALVES = 2;
const ROW_COUNTS = HALVES * KINDS;
/**
 * Maximum number of tenants that can ever be created, since deleted tenants keep their rows. The table
 * reserves address space for all rows but uses memory only for existing ones.
 */
const ROWS_MAX = 1 << 22;
/** Some V8 versions do not support larger tables. */
const TABLE_BYTES_MAX = 2 ** 32;
const ROWS_GROWTH = 1 << 10;

/** A word's layout, from its lowest bit: uses in progress, counted uses, low bits of the month. */
const UNDER_WAY_MASK = (1n << 20n) - 1n;
const ONE_COUNTED = 1n << 20n;
const MONTH_SHIFT = 56n;
const MONTH_MASK = 0xffn;
/** The same layout seen as two 32-bit halves, which can be read and mostly be changed without BigInts. */
const UNDER_WAY_BITS = 20;
const UNDER_WAY_LOW_MASK = (1 << UNDER_WAY_BITS) - 1;
const ONE_COUNTED_LOW = 1 << UNDER_WAY_BITS;
const COUNTED_LOW_VALUES = 1 << (32 - UNDER_WAY_BITS);
const COUNTED_HIGH_BITS = 24;
const COUNTED_HIGH_MASK = (1 << COUNTED_HIGH_BITS) - 1;

const BITS_PER_WORD = 32;
const BITS_PER_BYTE = 8;

const MONTHS = 12;
/** Length of the shortest month, 28 days. */
const MONTH_MS_MIN = 28 * 86_400_000;

/** The shared tables, which can be passed to other threads. */
export interface MonthTables {
  readonly threads: number;
  readonly counts: SharedArrayBuffer;
  /** One bit per tenant, set if the tenant's counts have changed since the last `takeChanged`. */
  readonly changed: SharedArrayBuffer;
}

/** Counts as stored in the catalog. */
type Stored = Omit<MonthUsage, "coach"> & { readonly coach?: number };

export class MonthCounts implements MonthlyCounter {
  readonly #tables: MonthTables;
  readonly #thread: number;
  /**
   * Views of the table as 64-bit words and as their halves, at the size that the table had when `#look` last
   * ran.
   */
  #words: BigInt64Array<ArrayBufferLike> = new BigInt64Array();
  #halves: Int32Array<ArrayBufferLike> = new Int32Array();
  readonly #changed: Int32Array;
  #month = 0;
  #monthEndsMs = Number.NEGATIVE_INFINITY;

  static tables(threads: number): MonthTables {
    const maxByteLength = Math.min(ROWS_MAX * rowBytes(threads), TABLE_BYTES_MAX);
    const counts = new SharedArrayBuffer(0, { maxByteLength });
    return { threads, counts, changed: new SharedArrayBuffer(ROWS_MAX / BITS_PER_BYTE) };
  }

  /** `thread` is this thread's number, unique among running threads. */
  constructor(tables: MonthTables, thread: number) {
    this.#tables = tables;
    this.#thread = thread;
    this.#changed = new Int32Array(tables.changed);
    this.#look();
  }

  begin(metered: Metered, tenant: number, plan: Plan, now: Date): UseUnderWay {
    const { kind, limitOf, code, what } = QUOTAS[metered];
    const limit = limitOf(plan);
    const month = this.#monthOf(now);
    this.#makeRow(tenant);
    const first = this.#wordOf(tenant, month, kind);
    const own = first + this.#thread;
    if (!this.#isOf(own, month)) Atomics.store(this.#words, own, ofMonth(0n, month));
    const low = Atomics.load(this.#halves, 2 * own);
    Atomics.store(this.#halves, 2 * own, low + 1);
    if (limit === null || this.#sum(first, month, true) <= limit) return { tenant, month };
    Atomics.store(this.#halves, 2 * own, low);
    throw new SkeinError(code, `the plan's ${limit} ${what} for this month are used up`, {
      retryAfter: secondsToNextMonth(now),
      details: { limit, month: monthText(month) },
    });
  }

  end(metered: Metered, { tenant, month }: UseUnderWay, counts: boolean): void {
    const word = this.#wordOf(tenant, month, QUOTAS[metered].kind) + this.#thread;
    const low = Atomics.load(this.#halves, 2 * word);
    if (!this.#isOf(word, month) || (low & UNDER_WAY_LOW_MASK) === 0) return; // it counts a later month
    if (!counts) Atomics.store(this.#halves, 2 * word, low - 1);
    else {
      if (low >>> UNDER_WAY_BITS < COUNTED_LOW_VALUES - 1)
        Atomics.store(this.#halves, 2 * word, low - 1 + ONE_COUNTED_LOW);
      else Atomics.store(this.#words, word, Atomics.load(this.#words, word) - 1n + ONE_COUNTED); // carries
      this.markChanged(tenant);
    }
  }

  /** True if the word, which is this thread's, counts this month. */
  #isOf(word: number, month: number): boolean {
    return Atomics.load(this.#halves, 2 * word + 1) >>> COUNTED_HIGH_BITS === (month & Number(MONTH_MASK));
  }

  used(tenant: number, now: Date): MonthUsage {
    const month = this.#monthOf(now);
    const hasRow = this.#hasRow(tenant);
    const used = ({ kind }: Quota): number =>
      hasRow ? this.#sum(this.#wordOf(tenant, month, kind), month, false) : 0;
    return { tenant, month: monthText(month), searches: used(QUOTAS.searches), coach: used(QUOTAS.coach) };
  }

  /** Resumes from stored counts. Must run before any use is counted. */
  restore({ tenant, month: text, searches, coach = 0 }: Stored): void {
    const month = monthOfText(text);
    this.#makeRow(tenant);
    for (const [{ kind }, count] of [
      [QUOTAS.searches, searches],
      [QUOTAS.coach, coach],
    ] as const) {
      const word = this.#wordOf(tenant, month, kind) + this.#thread;
      Atomics.store(this.#words, word, ofMonth(0n, month) + BigInt(count) * ONE_COUNTED);
    }
  }

  /** Drops a dead thread's uses in progress. */
  forget(thread: number): void {
    const { threads } = this.#tables;
    this.#look();
    for (let word = thread; word < this.#words.length; word += threads) {
      const own = Atomics.load(this.#words, word);
      if (own === 0n) continue;
      Atomics.store(this.#words, word, own & ~UNDER_WAY_MASK);
      // The thread may have died before marking the tenant as changed.
      this.markChanged(Math.floor(word / (ROW_COUNTS * threads)));
    }
  }

  markChanged(tenant: number): void {
    Atomics.or(this.#changed, Math.floor(tenant / BITS_PER_WORD), 1 << (tenant % BITS_PER_WORD));
  }

  /** Returns the tenants whose counts have changed since the last call. */
  takeChanged(): number[] {
    const tenants: number[] = [];
    const rows = this.#tables.counts.byteLength / rowBytes(this.#tables.threads);
    for (let word = 0; word * BITS_PER_WORD < rows; word++) {
      if (Atomics.load(this.#changed, word) === 0) continue;
      const bits = Atomics.exchange(this.#changed, word, 0);
      for (let bit = 0; bit < BITS_PER_WORD; bit++)
        if ((bits & (1 << bit)) !== 0) tenants.push(word * BITS_PER_WORD + bit);
    }
    return tenants;
  }

  /** The month's total over all threads, with or without uses in progress. `first` is thread 0's word. */
  #sum(first: number, month: number, withUnderWay: boolean): number {
    const wanted = month & Number(MONTH_MASK);
    let sum = 0;
    for (let word = first; word < first + this.#tables.threads; word++) {
      let high = Atomics.load(this.#halves, 2 * word + 1);
      let low = Atomics.load(this.#halves, 2 * word);
      for (let now = high; ; high = now) {
        now = Atomics.load(this.#halves, 2 * word + 1);
        if (now === high) break;
        // The owning thread carried into the high half between the two loads, so read again.
        low = Atomics.load(this.#halves, 2 * word);
      }
      if (high >>> COUNTED_HIGH_BITS !== wanted) continue;
      sum += (high & COUNTED_HIGH_MASK) * COUNTED_LOW_VALUES + (low >>> UNDER_WAY_BITS);
      if (withUnderWay) sum += low & UNDER_WAY_LOW_MASK;
    }
    return sum;
  }

  #wordOf(tenant: number, month: number, kind: number): number {
    return (tenant * ROW_COUNTS + (month % HALVES) * KINDS + kind) * this.#tables.threads;
  }

  #hasRow(tenant: number): boolean {
    const words = (tenant + 1) * ROW_COUNTS * this.#tables.threads;
    if (words > this.#words.length) this.#look();
    return words <= this.#words.length;
  }

  #makeRow(tenant: number): void {
    if (this.#hasRow(tenant)) return;
    const { counts, threads } = this.#tables;
    grow(counts, Math.ceil((tenant + 1) / ROWS_GROWTH) * ROWS_GROWTH * rowBytes(threads));
    this.#look();
  }

  /** Recreates the views at the table's current size. Length-tracking views would be ten times as slow. */
  #look(): void {
    const { counts } = this.#tables;
    const bytes = counts.byteLength;
    this.#words = new BigInt64Array(counts, 0, bytes / BigInt64Array.BYTES_PER_ELEMENT);
    this.#halves = new Int32Array(counts, 0, bytes / Int32Array.BYTES_PER_ELEMENT);
  }

  /**
   * Number of the month that contains `now`. Cached, because the calendar arithmetic costs more than the rest
   * of a count.
   */
  #monthOf(now: Date): number {
    const ms = now.getTime();
    if (ms >= this.#monthEndsMs - MONTH_MS_MIN && ms < this.#monthEndsMs) return this.#month;
    this.#month = now.getUTCFullYear() * MONTHS + now.getUTCMonth();
    this.#monthEndsMs = monthEnd(now);
    return this.#month;
  }
}

/** End of the month that contains `now`, in Unix milliseconds. */
export function monthEnd(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

export function secondsToNextMonth(now: Date): number {
  return Math.ceil((monthEnd(now) - now.getTime()) / 1000);
}

/** Formats a month: "2026-01". */
function monthText(month: number): string {
  return `${Math.floor(month / MONTHS)}-${String((month % MONTHS) + 1).padStart(2, "0")}`;
}

function monthOfText(text: string): number {
  const [year, month] = text.split("-").map(Number) as [number, number];
  return year * MONTHS + month - 1;
}

function rowBytes(threads: number): number {
  return ROW_COUNTS * threads * BigInt64Array.BYTES_PER_ELEMENT;
}

/** Grows the table to `bytes`. Another thread may do so at the same time. */
function grow(table: SharedArrayBuffer, bytes: number): void {
  try {
    if (table.byteLength < bytes) table.grow(bytes);
  } catch (error) {
    if (table.byteLength < bytes) throw error;
  }
}

/** The word, or an empty word for this month if it counts another month. */
function ofMonth(own: bigint, month: number): bigint {
  const bits = BigInt(month) & MONTH_MASK;
  return ((own >> MONTH_SHIFT) & MONTH_MASK) === bits ? own : BigInt.asIntN(64, bits << MONTH_SHIFT);
}
