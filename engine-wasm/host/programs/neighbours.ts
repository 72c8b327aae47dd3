// The part of a search program that lists neighbours: documents whose vectors are near that of the query. The picture of the
// bytes is in docs/FORMATS.md. Knows nothing about vectors and where points come from.
import { NEAR_ADDED, NEAR_FIRST, NEAR_NONE, NEIGHBOUR_MATCHES } from "../../assembly/layout.js";
import type { ByteWriter } from "../bytes.js";

export interface Neighbours {
  /**
   * "added": the points of a row count into its relevance. "first": the rows with `matches` come before all others, by
   * their points alone; those of other rows do not count.
   */
  readonly place: "added" | "first";
  /** By ascending sequence number, each once. Without rows and words nothing is found but pins. */
  readonly rows: readonly Neighbour[];
}

export interface Neighbour {
  readonly seq: number;
  /** From 0 to 1e30; 1 is what a score of 1 is. */
  readonly points: number;
  /** The row is found even if it lacks words. It must pass all the rest: filter, phrases, excludes and rules. */
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
