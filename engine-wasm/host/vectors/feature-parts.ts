// Determines which parts of a segment embedding and training read: the header, and everything from the
// posting lists to the end. The columns are not needed.
import { SEG_HEADER_BYTES, SEG_LISTS, STATUS_DAMAGED } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";

export interface FeatureParts {
  header: Uint8Array;
  lists: Uint8Array;
  /** Total bytes of both parts. */
  bytes: number;
  /** Number of bytes between the two parts. */
  skipped: number;
}

/**
 * Returns views of the segment's bytes. Throws EngineError("damaged") if the posting lists' offset is
 * invalid; the kernels check the rest.
 */
export function featureParts(segment: Uint8Array): FeatureParts {
  if (segment.length < SEG_HEADER_BYTES) throw statusError(-STATUS_DAMAGED);
  const view = new DataView(segment.buffer, segment.byteOffset, segment.byteLength);
  const from = view.getUint32(SEG_LISTS, true);
  if (from < SEG_HEADER_BYTES || from > segment.length) throw statusError(-STATUS_DAMAGED);
  const skipped = from - SEG_HEADER_BYTES;
  return {
    header: segment.subarray(0, SEG_HEADER_BYTES),
    lists: segment.subarray(from),
    bytes: segment.length - skipped,
    skipped,
  };
}
