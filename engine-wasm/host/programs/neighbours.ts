// The part of a search program that lists neighbours: documents whose vectors are near the query's vector.
// docs/FORMATS.md draws the bytes. Independent of vectors and of how points are computed.
import { NEAR_ADDED, NEAR_FIRST, NEAR_NONE, NEIGHBOUR_MATCHES } from "../../assembly/layout.js";
import type { ByteWriter } from "../bytes.js";

export interface Neighbours {
  /**
   * "added": a row's points are added to its relevance. "first": the rows with `matches` come before all
   * others, ordered by their points alone; points of other rows are ignored.
   */
  readonly place: "added" | "first";
  /**
   * In ascending order of sequence number, without duplicates. If there are neither rows nor words, only
   * pinned documents are found.
   */
  readonly rows: readonly Neighbour[];
}

export interface Neighbour {
  readonly seq: number;
  /** From 0 to 1e30. 1 counts as much as a score of 1. */
  readonly points: number;
  /** The row is found even if it lacks words. It must still pass filter, phrases, exclusions and rules. */
  readonly matches: boolean;
}

export function encodeNeighbours(out: ByteWriter, neighbours: Neighbours | null): void {
  out.u8(neighbours === null ? NEAR_NONE : neighbours.place === "added" ? NEAR_ADDED : NEAR_FIRST);
  const rows = neighbours?.rows ?? [];
  out.u32(rows.length);
  for (const { seq, points, matches } of rows) {
    out.f64(seq);
    out.f64(points);
    out.u8(matches ? NEIGHBOUR_MATCHES : 0);
  }
}
