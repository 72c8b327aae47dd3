// Limits for reading stored documents. Each name ends with its unit.

/** Maximum number of documents that FETCH reads one by one, without a thread hop. */
export const FETCH_DIRECT_MAX = 64;
/** Highlighting looks at no more than this many bytes of a value. */
export const HIGHLIGHT_TEXT_BYTES = 128 * 1024;
/**
 * FETCH reads FETCH_FIRST_GROUP documents together while it does not know their size. Later groups have about
 * FETCH_GROUP_BYTES bytes.
 */
export const FETCH_FIRST_GROUP = 8;
export const FETCH_GROUP_BYTES = 8 * 1024 * 1024;
/** Number of documents shown before the thread checks for other work: a few milliseconds with highlights. */
export const FETCH_GROUP_MAX = 8;
/**
 * EXPORT reads EXPORT_FIRST_GROUP documents together while it does not know their size. A reply ends after
 * about EXPORT_BYTES bytes.
 */
export const EXPORT_FIRST_GROUP = 4;
export const EXPORT_BYTES = 1024 * 1024;
