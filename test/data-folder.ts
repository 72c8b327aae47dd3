// The public data sets that some tests read. Most machines lack them; there, these tests print a note and are
// skipped.
import { existsSync } from "node:fs";
import { join } from "node:path";

export const DATA = process.env.SKEIN_DATA ?? join(import.meta.dirname, "../../shared/data");

/** True if `folder` does not exist. If so, prints that the test is skipped. */
export function isAbsent(folder: string, test: string): boolean {
  if (existsSync(folder)) return false;
  console.warn(`${test} is skipped: no data in ${folder} (set SKEIN_DATA)`);
  return true;
}
