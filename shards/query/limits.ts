// Limits of reading stored documents, units last.

/** Documents that FETCH reads one by one, without a thread hop. */
export const FETCH_DIRECT_MAX = 64;
/** Bytes of one value that highlighting looks at. */
export const HIGHLIGHT_TEXT_BYTES = 128 * 1024;
/**
 * FETCH reads this many documents together while it does not know their size. Later groups have this many
 * bytes.
 */
export const FETCH_FIRST_GROUP = 8;
export const FETCH_GROUP_BYTES = 8 * 1024 * 1024;
/** Documents shown before the thread checks for other work: a few milliseconds with highlights. */
export const FETCH_GROUP_MAX = 8;
/**
 * EXPORT reads this many documents together while it does not know their size. A reply ends after this many
 * bytes.
 */
export const EXPORT_FIRST_GROUP = 4;
export const EXPORT_BYTES = 1024 * 1024;
