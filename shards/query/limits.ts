// Limits of reading stored documents, units last.

/** Documents that FETCH reads one by one, without a thread hop. */
export const FETCH_DIRECT_MAX = 64;
/** Text of one value that highlighting looks at. */
export const HIGHLIGHT_TEXT_BYTES = 128 * 1024;
/** Documents that FETCH reads together before it knows how large they are, and bytes of those that it reads together then. */
export const FETCH_FIRST_GROUP = 16;
export const FETCH_GROUP_BYTES = 8 * 1024 * 1024;
/** Documents that EXPORT reads together before it knows how large they are, and bytes after which a reply ends. */
export const EXPORT_FIRST_GROUP = 4;
export const EXPORT_BYTES = 1024 * 1024;
