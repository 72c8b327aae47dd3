// Functions that the host provides. The compiler names each import after this file and the function, for
// example `env.parseNumber`.

/** The host's `Number(text)` for `bytes` bytes of ASCII at p: correctly rounded. */
export declare function parseNumber(p: usize, bytes: usize): f64;

/**
 * Stems the folded term of `bytes` bytes at p in language number `language`. Writes the stem to `out` if it
 * fits into `room` bytes. Returns the stem's length, or 0 if it did not fit.
 */
export declare function stemTerm(language: u32, p: usize, bytes: u32, out: usize, room: u32): u32;

/** Ends the running kernel because memory cannot grow. The host throws, so this never returns. */
export declare function outOfMemory(): void;

/**
 * Ends the running kernel if the caller's deadline has passed. Long loops call this every few microseconds.
 */
export declare function checkDeadline(): void;
