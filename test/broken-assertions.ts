// The checked engine prints a kernel's broken assertion to standard error. A test that breaks one on purpose
// captures the text and checks it, so that a healthy run prints nothing that looks like a failure.
import { vi } from "vitest";

/** The text printed during `work`. */
export async function brokenAssertions(work: () => unknown): Promise<string> {
  const print = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    await work();
    return print.mock.calls.map(([text]) => text).join("");
  } finally {
    print.mockRestore();
  }
}
