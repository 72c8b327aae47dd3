// The checked engine prints failed kernel assertions to standard error. A test that makes an assertion fail
// on purpose captures and checks the text, so that a passing run prints nothing that looks like a failure.
import { vi } from "vitest";

/** Runs `work` and returns the text that it prints to standard error, without showing it. */
export async function brokenAssertions(work: () => unknown): Promise<string> {
  const print = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    await work();
    return print.mock.calls.map(([text]) => text).join("");
  } finally {
    print.mockRestore();
  }
}
