// Limits on reading stored documents. Each name ends with its unit.

/** Maximum number of documents that FETCH reads one by one, without a thread hop. */
export const FETCH_DIRECT_MAX = 64;
/** Highlighting looks only at this many bytes of a field's value. */
export const HIGHLIGHT_TEXT_BYTES = 128 * 1024;
/**
 * FETCH first reads a group of FETCH_FIRST_GROUP documents, because it does not know their size yet. Later
 * groups are sized to contain about FETCH_GROUP_BYTES bytes.
 */
export const FETCH_FIRST_GROUP = 8;
export const FETCH_GROUP_BYTES = 8 * 1024 * 1024;
/**
 * Maximum number of documents per group. The thread checks for other work after each group, which takes a few
 * milliseconds with highlights.
 */
export const FETCH_GROUP_MAX = 8;
/**
 * EXPORT first reads a group of EXPORT_FIRST_GROUP documents, because it does not know their size yet. A
 * reply ends after about EXPORT_BYTES bytes.
 */
export const EXPORT_FIRST_GROUP = 4;
export const EXPORT_BYTES = 1024 * 1024;
