// Encodes a search program's list of neighbours, which are documents whose vectors are near the query's
// vector. docs/FORMATS.md shows the layout. Handles only sequence numbers and points, and does not know how
// they were computed.
import { NEAR_ADDED, NEAR_FIRST, NEAR_NONE, NEIGHBOUR_MATCHES } from "../../assembly/layout.js";
import type { ByteWriter } from "../bytes.js";

export interface Neighbours {
  /**
   * "added": a row's points are added to its relevance. "first": the rows with `matches` come before all
   * others, ordered only by their points; the points of other rows are ignored.
   */
  readonly place: "added" | "first";
  /**
   * Sorted by ascending sequence number, without duplicates. With an empty list, a program without words
   * finds only pinned documents.
   */
  readonly rows: readonly Neighbour[];
}

export interface Neighbour {
  readonly seq: number;
  /** From 0 to 1e30. One point counts as much as a score of 1. */
  readonly points: number;
  /**
   * True if the row is found even without any of the words. It must still pass the filter, phrases,
   * exclusions and rules.
   */
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
