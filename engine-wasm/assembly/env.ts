// What the host gives to the engine. The compiler names an import after its file and function.

/** The host's `Number(text)` of the `bytes` bytes of ASCII at p: correctly rounded. */
export declare function parseNumber(p: usize, bytes: usize): f64;

/**
 * The stem, in the language of this number, of the folded term of `bytes` bytes at p. Written to `out` when it
 * fits into `room` bytes. Returns its length, 0 when it did not fit.
 */
export declare function stemTerm(language: u32, p: usize, bytes: u32, out: usize, room: u32): u32;

/** Ends the running kernel: the memory may not grow any more. The host throws, so this never returns. */
export declare function outOfMemory(): void;

/** Ends the running kernel when the caller's time is up; for loops that may take long, every some microseconds. */
export declare function checkDeadline(): void;
