// Decodes the engine's answer to a request for the nearest rows. To merge several answers, sort by ascending
// distance, then by descending sequence number.
import { NEAREST_DISTANCE, NEAREST_ESTIMATE, NEAREST_ROW_BYTES, NEAREST_SEQ } from "../../assembly/layout.js";
import { ByteReader } from "../bytes.js";

export interface NearestResult {
  /** Number of rows compared: those that match and have a vector. */
  readonly compared: number;
  /** Sequence numbers of the rows, nearest first. */
  readonly seqs: Float64Array;
  /** Number of bits in which each row's code differs from the query's. */
  readonly distances: Uint16Array;
  /** Approximate cosine between each row and the query. */
  readonly estimates: Float32Array;
}

/** Throws a RangeError if the bytes are not the answer to a nearest request. */
export function decodeNearestResult(bytes: Uint8Array): NearestResult {
  const reader = new ByteReader(bytes);
  const compared = reader.u32();
  const rows = reader.u32();
  if (reader.remaining !== rows * NEAREST_ROW_BYTES)
    throw new RangeError(`${reader.remaining} bytes are not ${rows} nearest rows`);
  const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - reader.remaining);
  const [seqs, distances, estimates] = [
    new Float64Array(rows),
    new Uint16Array(rows),
    new Float32Array(rows),
  ];
  for (let i = 0, at = 0; i < rows; i++, at += NEAREST_ROW_BYTES) {
    seqs[i] = view.getFloat64(at + NEAREST_SEQ, true);
    distances[i] = view.getUint32(at + NEAREST_DISTANCE, true);
    estimates[i] = view.getFloat32(at + NEAREST_ESTIMATE, true);
  }
  return { compared, seqs, distances, estimates };
}
