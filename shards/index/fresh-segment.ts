// Newly built or merged segments that are attached to the engine, but not yet part of the index. Their bytes
// exist only in the engine.
import { OpenSegment } from "../segments/open-segment.js";
import { pieceCount, summarize } from "../segments/segment-pieces.js";
import type { ShardIndexState } from "./state.js";

/**
 * Attaches built bytes under a new segment id. The caller owns the segment until its `drop()`. Throws
 * EngineError("damaged" | "memory").
 */
export function attachSegment(state: ShardIndexState, bytes: Uint8Array, schemaVersion: number): OpenSegment {
  return adoptSegment(state, state.engine.attach(bytes), schemaVersion);
}

/** Adopts a merged segment under a new segment id. The caller owns it until its `drop()`. */
export function adoptSegment(state: ShardIndexState, address: number, schemaVersion: number): OpenSegment {
  const bytes = state.engine.segmentView(address);
  const id = state.takeSegmentId();
  const { rows, terms, firstSeq, lastSeq } = summarize(bytes, `index ${state.uid}, new segment ${id}`);
  const pieces = pieceCount(bytes.length);
  const record = { id, rows, bytes: bytes.length, pieces, schemaVersion, firstSeq, lastSeq, deleted: 0 };
  const segment = new OpenSegment(state.engine, address, record, terms);
  segment.take();
  return segment;
}
