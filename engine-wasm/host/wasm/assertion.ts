// Ends a kernel after a failed assertion of the checked engine (assembly/memory/checked.ts). The release
// engine has no assertions.

/** The text at `p`. The compiler stores its length in bytes before it. */
function textAt(memory: Buffer, p: number): string {
  return p === 0 ? "" : memory.toString("utf16le", p, p + memory.readUInt32LE(p - 4));
}

/**
 * Ends the running kernel as a trap. The message also goes to standard error, with the names of the kernel's
 * functions, because the assertion may have failed in background work that nobody awaits.
 */
export function brokenAssertion(memory: Buffer, text: number, file: number, line: number): never {
  const message = `assertion failed: ${textAt(memory, text)} (${textAt(memory, file)}:${line})`;
  const error = new WebAssembly.RuntimeError(message);
  process.stderr.write(`engine: ${error.stack ?? message}\n`);
  throw error;
}
