// Reads the facets in the engine's answer to a search program in place. A value is decoded only when it is
// asked for. docs/FORMATS.md shows the layout.
import { FLOAT_TYPES, LONG_TYPES, STRING_TYPES, TYPE_COUNT } from "../../assembly/layout.js";
import type { FacetRequest } from "./search-program.js";

/** Size of a value that is not a string, and of a string's length. */
const VALUE_BYTES = 8;
export const LENGTH_BYTES = 4;
const COUNT_BYTES = 4;

/** string for strings, bigint for int64, number for int32, bool (0, 1) and float. */
export type FacetValue = string | bigint | number;

/** Where a facet's strings are written to. */
export interface TextSink {
  /** Writes the UTF-8 from `start` to `end`. */
  escaped(utf8: Uint8Array, start: number, end: number): void;
}

/** A facet's values and their counts. A value is named by its index, from 0. */
export interface FacetCounts {
  /** Number of values. */
  readonly length: number;
  /** True if the values are strings. */
  readonly isText: boolean;
  /** Number of matching documents with this value, at least 1. */
  countAt(i: number): number;
  valueAt(i: number): FacetValue;
  /** Writes a string value without decoding it. */
  putText(i: number, sink: TextSink): void;
}

/** One shard's counts. */
export class EncodedFacet implements FacetCounts {
  readonly length: number;
  /** Upper bound on the counts of values missing here; 0 if the facet does not have `share`. */
  readonly bound: number;
  readonly isText: boolean;
  readonly #type: number;
  readonly #bytes: Buffer;
  /** Position after the facet. */
  readonly end: number;
  readonly #view: DataView;
  readonly #first: number;
  /** Start of each count, which its value follows, if the values are strings. */
  readonly #starts: number[] = [];

  /** `bytes` and `view` cover the whole answer, in which the facet starts at `at`. */
  constructor(bytes: Buffer, view: DataView, at: number, { type, share }: FacetRequest) {
    if (type >= TYPE_COUNT) throw new RangeError(`the field type ${type} has no values`);
    this.#bytes = bytes;
    this.#view = view;
    this.#type = type;
    this.isText = isOneOf(STRING_TYPES, type);
    this.length = view.getUint32(at, true);
    this.bound = share === true ? view.getUint32(at + COUNT_BYTES, true) : 0;
    let next = at + COUNT_BYTES + (share === true ? COUNT_BYTES : 0);
    this.#first = next;
    if (this.isText) {
      for (let i = 0; i < this.length; i++) {
        this.#starts.push(next);
        next = endOfValue(view, next + COUNT_BYTES, true);
      }
    } else next += this.length * (COUNT_BYTES + VALUE_BYTES);
    this.end = next;
  }

  countAt(i: number): number {
    return this.#view.getUint32(this.#start(i), true);
  }

  valueAt(i: number): FacetValue {
    if (this.isText) return this.#bytes.toString("utf8", this.#textStart(i), this.#textEnd(i));
    const at = this.#start(i) + COUNT_BYTES;
    if (isOneOf(FLOAT_TYPES, this.#type)) return this.#view.getFloat64(at, true);
    const value = this.#view.getBigInt64(at, true);
    return isOneOf(LONG_TYPES, this.#type) ? value : Number(value);
  }

  putText(i: number, sink: TextSink): void {
    sink.escaped(this.#bytes, this.#textStart(i), this.#textEnd(i));
  }

  #textStart(i: number): number {
    return this.#start(i) + COUNT_BYTES + LENGTH_BYTES;
  }

  #textEnd(i: number): number {
    return endOfValue(this.#view, this.#start(i) + COUNT_BYTES, true);
  }

  #start(i: number): number {
    return this.isText ? this.#starts[i]! : this.#first + i * (COUNT_BYTES + VALUE_BYTES);
  }
}

const NONE = Buffer.alloc(COUNT_BYTES);
export const NO_VALUES = new EncodedFacet(NONE, new DataView(NONE.buffer), 0, { slot: 0, type: 0, limit: 0 });

/** End of the value at `at`, which is a string or a number. */
export function endOfValue(view: DataView, at: number, text: boolean): number {
  return at + (text ? LENGTH_BYTES + view.getUint32(at, true) : VALUE_BYTES);
}

/** True if the TYPE_* is in the set. */
export function isOneOf(types: number, type: number): boolean {
  return ((types >> type) & 1) === 1;
}
