// A search program turned into "which documents match": all of them, by seq.
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import { ALL_ROWS } from "../../engine-wasm/host/programs/search-program.js";
import { seqsOfResult } from "../../engine-wasm/host/programs/search-result.js";
import { SHARD_BAD_MESSAGE, ShardError } from "../protocol/errors.js";

const PROGRAM_K = 4; // after u16 version, u8 kind, u8 mode; docs/FORMATS.md has the whole picture

/** Seqs of every document of the snapshot that matches. */
export function matchingSeqs(engine: Engine, snapshot: number, program: Uint8Array): Float64Array {
  const all = Uint8Array.from(program);
  if (all.length < PROGRAM_K + 4) throw new ShardError(SHARD_BAD_MESSAGE, "search program cut short");
  new DataView(all.buffer).setUint32(PROGRAM_K, ALL_ROWS, true);
  return seqsOfResult(engine.search(snapshot, all), 0, ALL_ROWS);
}
