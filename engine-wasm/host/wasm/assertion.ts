// Ends a kernel when an assertion of the checked engine (assembly/memory/checked.ts) fails. The release
// engine has no assertions.

/** The text at `p`. The compiler stores the text's length in bytes before it. */
function textAt(memory: Buffer, p: number): string {
  return p === 0 ? "" : memory.toString("utf16le", p, p + memory.readUInt32LE(p - 4));
}

/**
 * Ends the running kernel as a trap. Also writes the message, with the names of the kernel's functions, to
 * standard error, because the assertion may have failed in background work that nothing awaits.
 */
export function brokenAssertion(memory: Buffer, text: number, file: number, line: number): never {
  const message = `assertion failed: ${textAt(memory, text)} (${textAt(memory, file)}:${line})`;
  const error = new WebAssembly.RuntimeError(message);
  process.stderr.write(`engine: ${error.stack ?? message}\n`);
  throw error;
}
