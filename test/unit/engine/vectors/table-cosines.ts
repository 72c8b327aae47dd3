// Cosines as the engine computes them, with the records in the slots of a separate table.
import { VECTOR_BYTES } from "../../../../engine-wasm/assembly/layout.js";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";

/** Returns each record's cosine; `records` are concatenated. */
export function tableCosines(workbench: Workbench, query: Float32Array, records: Uint8Array): Float32Array {
  const table = workbench.vectorTable();
  const slots = Array.from({ length: records.length / VECTOR_BYTES }, (_, slot) => slot);
  for (const slot of slots) table.put(slot, records.subarray(slot * VECTOR_BYTES, (slot + 1) * VECTOR_BYTES));
  return table.similarities(query, slots);
}
