// Limits of reading stored documents, units last.

/** Documents that FETCH reads one by one, without a thread hop. */
export const FETCH_DIRECT_MAX = 64;
/** Text of one value that highlighting looks at. */
export const HIGHLIGHT_TEXT_BYTES = 128 * 1024;
