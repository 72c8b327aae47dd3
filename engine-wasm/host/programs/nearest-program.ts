// Encodes a request for the rows nearest to a query vector. It consists of the vector's numbers and a search
// program that selects the candidate rows. docs/FORMATS.md shows the layout.
import { PROGRAM_NEAREST, PROGRAM_VERSION, VECTOR_SIZE } from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";
import { ALL_ROWS } from "./search-program.js";

/** `program` is an encoded search program. Throws a RangeError if the query vector has the wrong size. */
export function encodeNearest(query: Float32Array, wanted: number, program: Uint8Array): Uint8Array {
  if (query.length !== VECTOR_SIZE)
    throw new RangeError(`a query vector has ${VECTOR_SIZE} numbers, not ${query.length}`);
  const out = new ByteWriter();
  out.u16(PROGRAM_VERSION);
  out.u8(PROGRAM_NEAREST);
  out.u32(Math.min(wanted, ALL_ROWS));
  out.bytes(new Uint8Array(query.buffer, query.byteOffset, query.byteLength));
  out.bytes(program);
  return out.finish();
}
