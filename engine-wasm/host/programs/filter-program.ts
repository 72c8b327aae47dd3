// Filters in the form in which the engine's programs contain them: a u16 number of operations, then the
// operations in postfix order, with operands first (a, b, and). docs/FORMATS.md lists the operations.
import {
  OP_ALL,
  OP_AND,
  OP_EQUALS,
  OP_FLOAT_RANGE,
  OP_IDS,
  OP_INT_RANGE,
  OP_NOT,
  OP_OR,
  OP_TOKENS,
} from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";

/** A whole filter, written by a FilterWriter. Must not be changed, because programs share it. */
export type FilterProgram = Uint8Array;

const COUNT_BYTES = 2;

/** A filter without operations. */
export const NO_FILTER: FilterProgram = new Uint8Array(COUNT_BYTES);

export function operationsIn(filter: FilterProgram): number {
  return (filter[0] as number) | ((filter[1] as number) << 8);
}

/** Writes a filter operation by operation. `finish` returns the filter; the writer is then spent. */
export class FilterWriter {
  readonly #out = new ByteWriter();
  #operations = 0;
  /** Position of the last id condition's count, and its value. */
  #idsAt = 0;
  #ids = 0;

  constructor() {
    this.#out.u16(0);
  }

  /** Number of operations so far. */
  get operations(): number {
    return this.#operations;
  }

  all(): void {
    this.#operation(OP_ALL);
  }

  and(): void {
    this.#operation(OP_AND);
  }

  or(): void {
    this.#operation(OP_OR);
  }

  not(): void {
    this.#operation(OP_NOT);
  }

  /** For int32, int64, bool (0 and 1) and their arrays. Both bounds are inclusive. */
  intRange(slot: number, low: bigint, high: bigint): void {
    this.#operation(OP_INT_RANGE);
    this.#out.u16(slot);
    this.#out.i64(low);
    this.#out.i64(high);
  }

  floatRange(slot: number, low: number, high: number, lowExclusive = false, highExclusive = false): void {
    this.#operation(OP_FLOAT_RANGE);
    this.#out.u16(slot);
    this.#out.f64(low);
    this.#out.f64(high);
    this.#out.u8((lowExclusive ? 1 : 0) | (highExclusive ? 2 : 0));
  }

  /** The field's folded value equals `folded`; in a string[], any element's folded value does. */
  equals(slot: number, folded: Uint8Array): void {
    this.#operation(OP_EQUALS);
    this.#out.u16(slot);
    this.#out.string32(folded);
  }

  /** All terms occur in this order in one element. Without terms, every document with a value passes. */
  tokens(slot: number, terms: readonly string[]): void {
    this.#operation(OP_TOKENS);
    this.#out.u16(slot);
    encodeTerms(this.#out, terms);
  }

  /** The document has one of the ids whose hashes follow, each added with `id`. */
  ids(): void {
    this.#operation(OP_IDS);
    this.#idsAt = this.#out.length;
    this.#ids = 0;
    this.#out.u32(0);
  }

  /** Adds an id to the operation just begun with `ids`. */
  id(hash: bigint): void {
    this.#out.u64(hash);
    this.#out.u32At(this.#idsAt, ++this.#ids);
  }

  /** Appends all operations of another filter. */
  append(filter: FilterProgram): void {
    this.#operations += operationsIn(filter);
    this.#out.bytes(filter.subarray(COUNT_BYTES));
  }

  /** Throws a RangeError if there are more operations than a program can have. */
  finish(): FilterProgram {
    if (this.#operations > 0xffff)
      throw new RangeError(`${this.#operations} filter operations: at most 65535 fit a program`);
    this.#out.u16At(0, this.#operations);
    return this.#out.finish();
  }

  #operation(code: number): void {
    this.#operations++;
    this.#out.u8(code);
  }
}

export function encodeTerms(out: ByteWriter, terms: readonly string[]): void {
  out.count16(terms.length, "terms");
  for (const term of terms) out.string16(term);
}
