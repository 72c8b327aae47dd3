// What tenants use of their plans by the month, in memory that threads share (docs/FORMATS.md, Tables between threads). A row per
// tenant, found by its id: ids are small numbers that are never used twice. Knows nothing of the catalog.
//
// A count has one word that decides: how many uses were admitted in a month, those under way among them. Each thread has a word of
// its own beside it, which it alone writes: what it has counted, and what it has under way. The words of the threads are the truth;
// what was used is their sum. A thread that dies between a step in the one and a step in the other leaves the deciding word wrong
// by one, so the owner sets that one anew from the words of the threads, and counts nothing that the dead one had under way.
import { type ErrorCode, SkeinError } from "../../ground/errors.js";
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
const ROW_BYTES = ROW_WORDS * BigInt64Array.BYTES_PER_ELEMENT;
/** Tables reserve addresses, not memory, for so many tenants that were ever made. */
const ROWS_MAX = 1 << 22;
const ROWS_GROWTH = 1 << 10;

/** Of a word of the table of all: the count, below how often the word has changed, below the month. */
const COUNT_MASK = (1n << 40n) - 1n;
const ONE_CHANGE = 1n << 40n;
const CHANGES_MASK = 0xffn << 40n;
const MONTH_SHIFT = 48n;
/** Of a word of a thread: whether it is about to change the other word, uses under way, uses counted, the low bits of the month. */
const CHANGING = 1n;
const ONE_UNDER_WAY = 1n << 1n;
const UNDER_WAY_MASK = ((1n << 20n) - 1n) << 1n;
const ONE_COUNTED = 1n << 21n;
const COUNTED_MASK = ((1n << 35n) - 1n) << 21n;
const OWN_MONTH_SHIFT = 56n;
const OWN_MONTH_MASK = 0xffn;
/** How often a word is tried to be set anew while other threads change it. */
const REPAIRS_MAX = 100;

const BITS_PER_WORD = 32;
const BITS_PER_BYTE = 8;

const MONTHS = 12;
/** No month is shorter. */
const MONTH_MS_MIN = 28 * 86_400_000;

/** May be handed to other threads. */
export interface MonthTables {
  readonly admitted: SharedArrayBuffer;
  /** For each thread. */
  readonly own: readonly SharedArrayBuffer[];
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
  readonly #threads: readonly BigInt64Array[];
  readonly #own: BigInt64Array;
  readonly #changed: Int32Array;
  /** Words of which a thread that has ended may have left the deciding one wrong. */
  readonly #doubtful = new Set<number>();
  #month = 0;
  #monthEndsMs = 0;

  static tables(threads: number): MonthTables {
    const growable = () => new SharedArrayBuffer(0, { maxByteLength: ROWS_MAX * ROW_BYTES });
    return {
      admitted: growable(),
      own: Array.from({ length: threads }, growable),
      changed: new SharedArrayBuffer(ROWS_MAX / BITS_PER_BYTE),
    };
  }

  /** `thread`: the number of this thread, which no other running one has. */
  constructor(tables: MonthTables, thread: number) {
    this.#tables = tables;
    this.#thread = thread;
    this.#admitted = new BigInt64Array(tables.admitted);
    this.#threads = tables.own.map((table) => new BigInt64Array(table));
    this.#own = this.#threads[thread] as BigInt64Array;
    this.#changed = new Int32Array(tables.changed);
  }

  begin(metered: Metered, tenant: number, plan: Plan, now: Date): UseUnderWay {
    const { kind, limitOf, code, what } = QUOTAS[metered];
    const limit = limitOf(plan);
    const month = this.#monthOf(now);
    const word = wordOf(tenant, month, kind);
    this.#makeRow(tenant);
    const own = ofMonth(Atomics.load(this.#own, word), month);
    Atomics.store(this.#own, word, own | CHANGING);
    const admitted = this.#admit(word, month, limit);
    Atomics.store(this.#own, word, admitted ? own + ONE_UNDER_WAY : own);
    if (admitted) return { tenant, month };
    throw new SkeinError(code, `the plan's ${limit} ${what} of this month are used up`, {
      retryAfter: secondsToNextMonth(now),
      details: { limit, month: monthText(month) },
    });
  }

  end(metered: Metered, { tenant, month }: UseUnderWay, counts: boolean): void {
    const word = wordOf(tenant, month, QUOTAS[metered].kind);
    const own = ofMonth(Atomics.load(this.#own, word), month);
    if ((own & UNDER_WAY_MASK) === 0n) return; // its half has gone to a later month
    if (counts) {
      Atomics.store(this.#own, word, own - ONE_UNDER_WAY + ONE_COUNTED);
      this.markChanged(tenant);
    } else {
      Atomics.store(this.#own, word, own | CHANGING);
      this.#takeBack(word, month);
      Atomics.store(this.#own, word, own - ONE_UNDER_WAY);
    }
  }

  used(tenant: number, now: Date): MonthUsage {
    const month = this.#monthOf(now);
    const [searches, coach] = [QUOTAS.searches, QUOTAS.coach].map(({ kind }) =>
      this.#used(wordOf(tenant, month, kind), month),
    ) as [number, number];
    return { tenant, month: monthText(month), searches, coach };
  }

  /** Goes on from counts that were stored. To be called before anybody counts. */
  restore({ tenant, month: text, searches, coach = 0 }: Stored): void {
    const month = monthOfText(text);
    this.#makeRow(tenant);
    for (const [metered, count] of [
      ["searches", searches],
      ["coach", coach],
    ] as const) {
      const word = wordOf(tenant, month, QUOTAS[metered].kind);
      Atomics.store(this.#own, word, ofMonth(0n, month) + BigInt(count) * ONE_COUNTED);
      Atomics.store(this.#admitted, word, admittedWord(0n, month, count));
    }
  }

  /** Takes back what was under way in a thread that has ended, wherever it was. */
  forget(thread: number): void {
    const table = this.#threads[thread] as BigInt64Array;
    for (let word = 0; word < table.length; word++) {
      const own = Atomics.load(table, word);
      if (own === 0n) continue;
      this.markChanged(Math.floor(word / ROW_WORDS));
      if ((own & (UNDER_WAY_MASK | CHANGING)) === 0n) continue;
      Atomics.store(table, word, own & ~(UNDER_WAY_MASK | CHANGING));
      if (!this.#repair(word)) this.#doubtful.add(word);
    }
  }

  markChanged(tenant: number): void {
    Atomics.or(this.#changed, Math.floor(tenant / BITS_PER_WORD), 1 << (tenant % BITS_PER_WORD));
  }

  /** The tenants whose counts have changed since the last call. To be called again and again by the owner. */
  takeChanged(): number[] {
    for (const word of this.#doubtful) if (this.#repair(word)) this.#doubtful.delete(word);
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

  /** False when the plan's month is used up. */
  #admit(word: number, month: number, limit: number | null): boolean {
    for (;;) {
      const before = Atomics.load(this.#admitted, word);
      const admitted = countOf(before, month);
      if (limit !== null && admitted >= limit) return false;
      const after = admittedWord(before, month, admitted + 1);
      if (Atomics.compareExchange(this.#admitted, word, before, after) === before) return true;
    }
  }

  /** Nothing, when the month's half has gone to a later one. */
  #takeBack(word: number, month: number): void {
    for (;;) {
      const before = Atomics.load(this.#admitted, word);
      const admitted = countOf(before, month);
      if (admitted === 0) return;
      const after = admittedWord(before, month, admitted - 1);
      if (Atomics.compareExchange(this.#admitted, word, before, after) === before) return;
    }
  }

  /**
   * Sets the deciding word to what the threads have. False when one of them is always about to change it, perhaps because it has
   * ended, too. As the word knows how often it was changed, it is the same in the end only if nobody has changed it meanwhile.
   */
  #repair(word: number): boolean {
    for (let tries = 0; tries < REPAIRS_MAX; tries++) {
      const before = Atomics.load(this.#admitted, word);
      const month = Number(before >> MONTH_SHIFT);
      const words = this.#wordsOf(word, month);
      if (words.some((own) => (own & CHANGING) !== 0n)) continue;
      const sum = words.reduce((all, own) => all + countedOf(own) + Number((own & UNDER_WAY_MASK) >> 1n), 0);
      const after = admittedWord(before, month, sum);
      if (Atomics.compareExchange(this.#admitted, word, before, after) === before) return true;
    }
    return false;
  }

  #used(word: number, month: number): number {
    return this.#wordsOf(word, month).reduce((sum, own) => sum + countedOf(own), 0);
  }

  /** Of all threads. */
  #wordsOf(word: number, month: number): bigint[] {
    return this.#threads.map((table) =>
      word < table.length ? ofMonth(Atomics.load(table, word), month) : 0n,
    );
  }

  #makeRow(tenant: number): void {
    const words = (tenant + 1) * ROW_WORDS;
    if (words <= this.#own.length && words <= this.#admitted.length) return;
    const bytes = Math.ceil((tenant + 1) / ROWS_GROWTH) * ROWS_GROWTH * ROW_BYTES;
    grow(this.#tables.admitted, bytes);
    grow(this.#tables.own[this.#thread]!, bytes);
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

/** What follows `before`. */
function admittedWord(before: bigint, month: number, count: number): bigint {
  return (BigInt(month) << MONTH_SHIFT) | ((before + ONE_CHANGE) & CHANGES_MASK) | BigInt(count);
}

/** 0 when the word is of another month. */
function countOf(word: bigint, month: number): number {
  return word >> MONTH_SHIFT === BigInt(month) ? Number(word & COUNT_MASK) : 0;
}

/** The word of a thread, or that of one without a use when it is of another month. */
function ofMonth(own: bigint, month: number): bigint {
  const bits = BigInt(month) & OWN_MONTH_MASK;
  return ((own >> OWN_MONTH_SHIFT) & OWN_MONTH_MASK) === bits
    ? own
    : BigInt.asIntN(64, bits << OWN_MONTH_SHIFT);
}

function countedOf(own: bigint): number {
  return Number((own & COUNTED_MASK) / ONE_COUNTED);
}

/** Another thread may do the same at this moment. */
function grow(table: SharedArrayBuffer, bytes: number): void {
  try {
    if (table.byteLength < bytes) table.grow(bytes);
  } catch (error) {
    if (table.byteLength < bytes) throw error;
  }
}
