// Encodes a filter, which is a list of operations in postfix order, as part of the engine's programs.
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
import type { ByteWriter } from "../bytes.js";

/** One operation of a postfix filter. Operands come first: [a, b, {op: "and"}]. */
export type FilterOp =
  | { readonly op: "all" }
  | { readonly op: "and" }
  | { readonly op: "or" }
  | { readonly op: "not" }
  /** For int32, int64, bool (0 and 1) and their arrays. Both bounds are inclusive. */
  | { readonly op: "intRange"; readonly slot: number; readonly low: bigint; readonly high: bigint }
  | {
      readonly op: "floatRange";
      readonly slot: number;
      readonly low: number;
      readonly high: number;
      readonly lowExclusive: boolean;
      readonly highExclusive: boolean;
    }
  /** The field's folded value equals `folded`; in a string[], any element's folded value does. */
  | { readonly op: "equals"; readonly slot: number; readonly folded: Uint8Array }
  /** All terms occur in this order in one element. Without terms, every document with a value passes. */
  | { readonly op: "tokens"; readonly slot: number; readonly terms: readonly string[] }
  | { readonly op: "ids"; readonly hashes: readonly bigint[] };

export function encodeTerms(out: ByteWriter, terms: readonly string[]): void {
  out.count16(terms.length, "terms");
  for (const term of terms) out.string16(term);
}

export function encodeFilter(out: ByteWriter, filter: readonly FilterOp[]): void {
  out.count16(filter.length, "filter operations");
  for (const operation of filter) encodeOperation(out, operation);
}

function encodeOperation(out: ByteWriter, operation: FilterOp): void {
  switch (operation.op) {
    case "all":
      out.u8(OP_ALL);
      break;
    case "and":
      out.u8(OP_AND);
      break;
    case "or":
      out.u8(OP_OR);
      break;
    case "not":
      out.u8(OP_NOT);
      break;
    case "intRange":
      out.u8(OP_INT_RANGE);
      out.u16(operation.slot);
      out.i64(operation.low);
      out.i64(operation.high);
      break;
    case "floatRange":
      out.u8(OP_FLOAT_RANGE);
      out.u16(operation.slot);
      out.f64(operation.low);
      out.f64(operation.high);
      out.u8((operation.lowExclusive ? 1 : 0) | (operation.highExclusive ? 2 : 0));
      break;
    case "equals":
      out.u8(OP_EQUALS);
      out.u16(operation.slot);
      out.string32(operation.folded);
      break;
    case "tokens":
      out.u8(OP_TOKENS);
      out.u16(operation.slot);
      encodeTerms(out, operation.terms);
      break;
    case "ids":
      out.u8(OP_IDS);
      out.u32(operation.hashes.length);
      for (const hash of operation.hashes) out.u64(hash);
      break;
  }
}
