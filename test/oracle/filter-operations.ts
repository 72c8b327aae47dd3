// A filter's operations as values, in which tests write filters and read compiled ones. The decoder follows
// docs/FORMATS.md, independently of the product's writer.
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
} from "../../engine-wasm/assembly/layout.js";
import { ByteReader } from "../../engine-wasm/host/bytes.js";
import { type FilterProgram, FilterWriter } from "../../engine-wasm/host/programs/filter-program.js";

/** One operation of a postfix filter. Operands come first: a, b, {op: "and"}. */
export type FilterOp =
  | { readonly op: "all" | "and" | "or" | "not" }
  | { readonly op: "intRange"; readonly slot: number; readonly low: bigint; readonly high: bigint }
  | {
      readonly op: "floatRange";
      readonly slot: number;
      readonly low: number;
      readonly high: number;
      readonly lowExclusive: boolean;
      readonly highExclusive: boolean;
    }
  | { readonly op: "equals"; readonly slot: number; readonly folded: Uint8Array }
  | { readonly op: "tokens"; readonly slot: number; readonly terms: readonly string[] }
  | { readonly op: "ids"; readonly hashes: readonly bigint[] };

export function filterOf(...operations: readonly FilterOp[]): FilterProgram {
  const out = new FilterWriter();
  for (const operation of operations) write(out, operation);
  return out.finish();
}

function write(out: FilterWriter, operation: FilterOp): void {
  switch (operation.op) {
    case "intRange":
      out.intRange(operation.slot, operation.low, operation.high);
      break;
    case "floatRange": {
      const { slot, low, high, lowExclusive, highExclusive } = operation;
      out.floatRange(slot, low, high, lowExclusive, highExclusive);
      break;
    }
    case "equals":
      out.equals(operation.slot, operation.folded);
      break;
    case "tokens":
      out.tokens(operation.slot, operation.terms);
      break;
    case "ids":
      out.ids();
      for (const hash of operation.hashes) out.id(hash);
      break;
    default:
      out[operation.op]();
  }
}

/** Returns a filter's operations. Throws if the bytes are not exactly the operations that they announce. */
export function operationsOf(filter: FilterProgram): FilterOp[] {
  const reader = new ByteReader(filter);
  const operations = Array.from({ length: reader.u16() }, () => operationAt(reader));
  if (reader.remaining !== 0) throw new Error(`${reader.remaining} bytes after the last operation`);
  return operations;
}

function operationAt(reader: ByteReader): FilterOp {
  const code = reader.u8();
  switch (code) {
    case OP_ALL:
      return { op: "all" };
    case OP_AND:
      return { op: "and" };
    case OP_OR:
      return { op: "or" };
    case OP_NOT:
      return { op: "not" };
    case OP_INT_RANGE:
      return { op: "intRange", slot: reader.u16(), low: reader.i64(), high: reader.i64() };
    case OP_FLOAT_RANGE: {
      const [slot, low, high, flags] = [reader.u16(), reader.f64(), reader.f64(), reader.u8()];
      return { op: "floatRange", slot, low, high, lowExclusive: flags % 2 === 1, highExclusive: flags >= 2 };
    }
    case OP_EQUALS:
      return { op: "equals", slot: reader.u16(), folded: Buffer.from(reader.bytes(reader.u32())) };
    case OP_TOKENS: {
      const slot = reader.u16();
      return { op: "tokens", slot, terms: Array.from({ length: reader.u16() }, () => reader.string16()) };
    }
    case OP_IDS:
      return { op: "ids", hashes: Array.from({ length: reader.u32() }, () => reader.u64()) };
    default:
      throw new Error(`operation ${code}`);
  }
}
