// What tenants use of their plans by the month, in memory that threads share (docs/FORMATS.md, Tables between threads). A row per
// tenant, found by its id: ids are small numbers that are never used twice. Knows nothing of the catalog.
//
// A count has one word that decides: how many uses were admitted in a month, those under way among them. What is under way is
// written by the thread that has it. So used = admitted - under way; a use that fails is taken back from both; and what a thread
// leaves when it dies can be taken back as if it had failed.
import { type ErrorCode, SkeinError } from "../errors.js";
import type { Metered, MonthlyCounter, MonthUsage, UseUnderWay } from "./limiter.js";
import type { Plan } from "./plans.js";

interface Quota {
  /** Its number among the words of a month. */
  readonly kind: number;
  readonly limitOf: (plan: Plan) => number | null;
  readonly code: ErrorCode;
  /** In sentences. */
  readonly what: string;
}
const QUOTAS: Readonly<Record<Metered, Quota>> = {
  searches: { kind: 0, limitOf: (plan) => plan.searches_per_month, code: "SK-SYS-429", what: "searches" },
  coach: { kind: 1, limitOf: (plan) => plan.coach_per_month, code: "SK-AI-429", what: "analyses" },
};
const KINDS = 2;

/** A row: for either half (the months of even and of odd numbers) a word per kind, in the table of all and in those of threads. */
const HALVES = 2;
const ROW_WORDS = HALVES * KINDS;
/** Tables reserve addresses, not memory, for so many tenants that were ever made. */
const ROWS_MAX = 1 << 22;
const ROWS_GROWTH = 1 << 10;

/** Of a word of the table of all: the month above the count. */
const COUNT_BITS = 48n;
const COUNT_MASK = (1n << COUNT_BITS) - 1n;
/** Of a word of a thread: the low bits of the month, above the count, above whether one more is about to be admitted. */
const OWN_MONTH_SHIFT = 24;
const OWN_COUNT_SHIFT = 1;
const OWN_MONTH_MASK = 0xff;
const OWN_COUNT_MASK = 0x7fffff;
const BEGINNING = 1;
const BITS_PER_WORD = 32;
const BITS_PER_BYTE = 8;

const MONTHS = 12;
/** No month is shorter. */
const MONTH_MS_MIN = 28 * 86_400_000;

/** May be handed to other threads. */
export interface MonthTables {
  readonly admitted: SharedArrayBuffer;
  /** For each thread. */
  readonly underWay: readonly SharedArrayBuffer[];
  /** A bit per tenant: its counts have changed since somebody asked. */
  readonly changed: SharedArrayBuffer;
}

/** As the catalog keeps it. */
type Stored = Omit<MonthUsage, "coach"> & { readonly coach?: number };

export class MonthCounts implements MonthlyCounter {
  readonly #tables: MonthTables;
  readonly #thread: number;
  /** These grow with their tables. */
  readonly #admitted: BigInt64Array;
  readonly #underWay: readonly Int32Array[];
  readonly #own: Int32Array;
  readonly #changed: Int32Array;
  #month = 0;
  #monthEndsMs = 0;

  static tables(threads: number): MonthTables {
    const growable = (wordBytes: number): SharedArrayBuffer =>
      new SharedArrayBuffer(0, { maxByteLength: ROWS_MAX * ROW_WORDS * wordBytes });
    return {
      admitted: growable(BigInt64Array.BYTES_PER_ELEMENT),
      underWay: Array.from({ length: threads }, () => growable(Int32Array.BYTES_PER_ELEMENT)),
      changed: new SharedArrayBuffer(ROWS_MAX / BITS_PER_BYTE),
    };
  }

  /** `thread`: the number of this thread, which no other running one has. */
  constructor(tables: MonthTables, thread: number) {
    this.#tables = tables;
    this.#thread = thread;
    this.#admitted = new BigInt64Array(tables.admitted);
    this.#underWay = tables.underWay.map((table) => new Int32Array(table));
    this.#own = this.#underWay[thread] as Int32Array;
    this.#changed = new Int32Array(tables.changed);
  }

  begin(metered: Metered, tenant: number, plan: Plan, now: Date): UseUnderWay {
    const { kind, limitOf, code, what } = QUOTAS[metered];
    const limit = limitOf(plan);
    const month = this.#monthOf(now);
    const word = wordOf(tenant, month, kind);
    this.#makeRow(tenant);
    const own = ownCount(Atomics.load(this.#own, word), month);
    Atomics.store(this.#own, word, ownWord(month, own) | BEGINNING);
    if (this.#admit(word, month, limit)) {
      Atomics.store(this.#own, word, ownWord(month, own + 1));
      return { tenant, month };
    }
    Atomics.store(this.#own, word, ownWord(month, own));
    throw new SkeinError(code, `the plan's ${limit} ${what} of this month are used up`, {
      retryAfter: secondsToNextMonth(now),
      details: { limit, month: monthText(month) },
    });
  }

  end(metered: Metered, { tenant, month }: UseUnderWay, counts: boolean): void {
    const word = wordOf(tenant, month, QUOTAS[metered].kind);
    const own = ownCount(Atomics.load(this.#own, word), month);
    if (own === 0) return; // its half has gone to a later month
    if (!counts) this.#takeBack(word, month, 1);
    Atomics.store(this.#own, word, ownWord(month, own - 1));
    if (counts) this.markChanged(tenant);
  }

  used(tenant: number, now: Date): MonthUsage {
    const month = this.#monthOf(now);
    const [searches, coach] = [QUOTAS.searches, QUOTAS.coach].map(({ kind }) =>
      this.#used(wordOf(tenant, month, kind), month),
    ) as [number, number];
    return { tenant, month: monthText(month), searches, coach };
  }

  /** Goes on from counts that were stored. To be called before anybody counts. */
  restore({ tenant, month: text, searches, coach }: Stored): void {
    const month = monthOfText(text);
    this.#makeRow(tenant);
    Atomics.store(this.#admitted, wordOf(tenant, month, QUOTAS.searches.kind), admittedWord(month, searches));
    Atomics.store(this.#admitted, wordOf(tenant, month, QUOTAS.coach.kind), admittedWord(month, coach ?? 0));
  }

  /** Takes back what was under way in a thread that has ended. */
  forget(thread: number): void {
    const table = this.#underWay[thread] as Int32Array;
    for (let word = 0; word < table.length; word++) {
      const own = Atomics.exchange(table, word, 0);
      const count = (own >> OWN_COUNT_SHIFT) & OWN_COUNT_MASK;
      if (count > 0) this.#takeBack(word, own >>> OWN_MONTH_SHIFT, count);
    }
  }

  markChanged(tenant: number): void {
    Atomics.or(this.#changed, Math.floor(tenant / BITS_PER_WORD), 1 << (tenant % BITS_PER_WORD));
  }

  /** The tenants whose counts have changed since the last call. */
  takeChanged(): number[] {
    const tenants: number[] = [];
    const rows = this.#admitted.length / ROW_WORDS;
    for (let word = 0; word * BITS_PER_WORD < rows; word++) {
      if (Atomics.load(this.#changed, word) === 0) continue;
      const bits = Atomics.exchange(this.#changed, word, 0);
      for (let bit = 0; bit < BITS_PER_WORD; bit++)
        if ((bits & (1 << bit)) !== 0) tenants.push(word * BITS_PER_WORD + bit);
    }
    return tenants;
  }

  /**
   * False when the plan's month is used up. The swap is the last step: threads are ended in loops and calls only, so that one that
   * is ended in here has admitted nothing.
   */
  #admit(word: number, month: number, limit: number | null): boolean {
    for (;;) {
      const before = Atomics.load(this.#admitted, word);
      const admitted = countOf(before, month);
      if (limit !== null && admitted >= limit) return false;
      const after = admittedWord(month, admitted + 1);
      if (Atomics.compareExchange(this.#admitted, word, before, after) === before) return true;
    }
  }

  /** Of a month that is over and whose half has gone to a later one nothing is left to take back. */
  #takeBack(word: number, month: number, count: number): void {
    for (;;) {
      const before = Atomics.load(this.#admitted, word);
      const its = Number(before >> COUNT_BITS);
      if (((its ^ month) & OWN_MONTH_MASK) !== 0) return;
      const after = admittedWord(its, countOf(before, its) - count);
      if (Atomics.compareExchange(this.#admitted, word, before, after) === before) return;
    }
  }

  /** Never more than was used: while uses begin and end in other threads at this moment it may be less by these. */
  #used(word: number, month: number): number {
    if (word >= this.#admitted.length) return 0;
    for (;;) {
      const before = Atomics.load(this.#admitted, word);
      let underWay = 0;
      for (const table of this.#underWay) {
        if (word >= table.length) continue;
        const own = Atomics.load(table, word);
        underWay += ownCount(own, month) + (ofMonth(own, month) ? own & BEGINNING : 0);
      }
      if (Atomics.load(this.#admitted, word) === before)
        return Math.max(0, countOf(before, month) - underWay);
    }
  }

  #makeRow(tenant: number): void {
    const words = (tenant + 1) * ROW_WORDS;
    if (words <= this.#own.length && words <= this.#admitted.length) return;
    const rows = Math.ceil((tenant + 1) / ROWS_GROWTH) * ROWS_GROWTH;
    grow(this.#tables.admitted, rows * ROW_WORDS * BigInt64Array.BYTES_PER_ELEMENT);
    grow(this.#tables.underWay[this.#thread]!, rows * ROW_WORDS * Int32Array.BYTES_PER_ELEMENT);
  }

  /** The month is kept, because the calendar costs more than the rest of a count. */
  #monthOf(now: Date): number {
    const ms = now.getTime();
    if (ms >= this.#monthEndsMs - MONTH_MS_MIN && ms < this.#monthEndsMs) return this.#month;
    this.#month = now.getUTCFullYear() * MONTHS + now.getUTCMonth();
    this.#monthEndsMs = monthEnd(now);
    return this.#month;
  }
}

/** When the month of `now` is over, in milliseconds since 1970. */
export function monthEnd(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

export function secondsToNextMonth(now: Date): number {
  return Math.ceil((monthEnd(now) - now.getTime()) / 1000);
}

/** "2026-01" */
function monthText(month: number): string {
  return `${Math.floor(month / MONTHS)}-${String((month % MONTHS) + 1).padStart(2, "0")}`;
}

function monthOfText(text: string): number {
  const [year, month] = text.split("-").map(Number) as [number, number];
  return year * MONTHS + month - 1;
}

/** In the table of all and in those of threads. */
function wordOf(tenant: number, month: number, kind: number): number {
  return tenant * ROW_WORDS + (month % HALVES) * KINDS + kind;
}

function admittedWord(month: number, count: number): bigint {
  return (BigInt(month) << COUNT_BITS) | BigInt(count);
}

/** 0 when the word is of another month. */
function countOf(word: bigint, month: number): number {
  return word >> COUNT_BITS === BigInt(month) ? Number(word & COUNT_MASK) : 0;
}

function ownWord(month: number, count: number): number {
  return (month << OWN_MONTH_SHIFT) | (count << OWN_COUNT_SHIFT);
}

function ofMonth(word: number, month: number): boolean {
  return word >>> OWN_MONTH_SHIFT === (month & OWN_MONTH_MASK);
}

/** 0 when the word is of another month. */
function ownCount(word: number, month: number): number {
  return ofMonth(word, month) ? (word >> OWN_COUNT_SHIFT) & OWN_COUNT_MASK : 0;
}

/** Another thread may do the same at this moment. */
function grow(table: SharedArrayBuffer, bytes: number): void {
  try {
    if (table.byteLength < bytes) table.grow(bytes);
  } catch (error) {
    if (table.byteLength < bytes) throw error;
  }
}
