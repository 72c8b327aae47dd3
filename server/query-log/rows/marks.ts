// Marks are facts about a block's searches that become known after the block was written. They are stored as
// one byte of flags per row. ON DISK: docs/FORMATS.md shows the layout.
import { deflateRawSync, inflateRawSync } from "node:zlib";

export const MARKS_VERSION = 1;

// ON DISK - never renumber
/** The person continued typing, so a later search is counted instead of this search. */
export const SUPERSEDED = 1;
/** The person clicked a hit of this search, or of a search that this search supersedes. */
export const CLICKED = 2;
export const CONVERTED = 4;

export function encodeMarks(marks: Uint8Array): Uint8Array {
  return deflateRawSync(marks);
}

export function decodeMarks(bytes: Uint8Array): Uint8Array {
  return inflateRawSync(bytes);
}
