// The public data that some tests read. Most machines do not have it: there, these tests say so and are
// skipped.
import { existsSync } from "node:fs";
import { join } from "node:path";

export const DATA = process.env.SKEIN_DATA ?? join(import.meta.dirname, "../../shared/data");

/** Whether the data, or this folder of it, is absent; if so, prints which test is skipped. */
export function isAbsent(folder: string, test: string): boolean {
  if (existsSync(folder)) return false;
  console.warn(`${test} is skipped: no data in ${folder} (set SKEIN_DATA)`);
  return true;
}
