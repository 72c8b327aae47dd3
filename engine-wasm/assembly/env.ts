// What the host gives to the engine. The compiler names an import after its file and function.

/** The host's `Number(text)` of the `bytes` bytes of ASCII at p: correctly rounded. */
export declare function parseNumber(p: usize, bytes: usize): f64;
