// Limits of reading stored documents, units last.

/** Documents that FETCH reads one by one, without a thread hop. */
export const FETCH_DIRECT_MAX = 64;
/** Text of one value that highlighting looks at. */
export const HIGHLIGHT_TEXT_BYTES = 128 * 1024;
/** FETCH reads so many documents together while it does not know how large they are. Later groups have so many bytes. */
export const FETCH_FIRST_GROUP = 8;
export const FETCH_GROUP_BYTES = 8 * 1024 * 1024;
/** Documents that are shown one after the other before the thread looks at other work: some milliseconds with highlights. */
export const FETCH_GROUP_MAX = 8;
/** EXPORT reads so many documents together while it does not know how large they are. A reply ends after so many bytes. */
export const EXPORT_FIRST_GROUP = 4;
export const EXPORT_BYTES = 1024 * 1024;
