// Determines which sections a field has in a segment, by its type and flags. Both building and merging use
// it.
import { FLAG_FACET, FLAG_INDEX, FLAG_SORT } from "../layout";
import { isArrayType, isStringType } from "./field-type";

const FLAGS_COLUMN: u32 = FLAG_INDEX | FLAG_SORT | FLAG_FACET;

export function hasNorms(type: u32, flags: u32): bool {
  return isStringType(type) && (flags & FLAG_INDEX) != 0;
}

export function hasOffsets(type: u32, flags: u32): bool {
  return isArrayType(type) && (flags & FLAGS_COLUMN) != 0;
}

export function hasValues(type: u32, flags: u32): bool {
  return !isStringType(type) && (flags & FLAGS_COLUMN) != 0;
}

export function hasDictionary(type: u32, flags: u32): bool {
  return (flags & FLAG_FACET) != 0 || (isStringType(type) && (flags & FLAG_SORT) != 0);
}

export function hasHashes(type: u32, flags: u32): bool {
  return isStringType(type) && (flags & FLAG_INDEX) != 0 && !hasDictionary(type, flags);
}
