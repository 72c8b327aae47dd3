// Tells whether this thread's heap is full. At V8's own heap limit, a thread ends without closing its
// sockets, and uWebSockets.js then takes the whole process down. So V8's limit is out of reach, and a
// front-end ends itself at a mark of its own.
import { getHeapStatistics } from "node:v8";
import { collect } from "../../../../engine-wasm/host/runtime/discards.js";

/** If less than this share of the mark is free after a collection, the next one would soon be due. */
const KEPT_SHARE_MAX = 0.8;

/**
 * True if this thread's heap has reached `bytesMax` and a collection does not help. Costs a microsecond below
 * the mark.
 */
export function isHeapFull(bytesMax: number): boolean {
  if (usedBytes() < bytesMax) return false;
  collect();
  return usedBytes() > KEPT_SHARE_MAX * bytesMax;
}

function usedBytes(): number {
  return getHeapStatistics().used_heap_size;
}
