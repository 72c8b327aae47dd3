// The statistics of an index from those of its parts in the shards.
import type { IndexStats } from "../../shards/protocol/control.js";

export function sumStats(stats: readonly IndexStats[]): IndexStats {
  const total = (of: (one: IndexStats) => number): number => stats.reduce((sum, one) => sum + of(one), 0);
  return {
    liveDocs: total((one) => one.liveDocs),
    deletedRows: total((one) => one.deletedRows),
    segments: total((one) => one.segments),
    segmentBytes: total((one) => one.segmentBytes),
    memoryBytes: total((one) => one.memoryBytes),
    terms: total((one) => one.terms),
    staleSegments: total((one) => one.staleSegments),
    merging: stats.some((one) => one.merging),
    maintenanceDue: stats.some((one) => one.maintenanceDue),
    queuedBytes: total((one) => one.queuedBytes),
  };
}
