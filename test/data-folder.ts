// The public data that some tests read. It is absent on most machines: these tests then say so and are skipped.
import { existsSync } from "node:fs";
import { join } from "node:path";

export const DATA = process.env.SKEIN_DATA ?? join(import.meta.dirname, "../../shared/data");

/** Whether the data, or this folder of it, is absent; if so, says which test is skipped. */
export function isAbsent(folder: string, test: string): boolean {
  if (existsSync(folder)) return false;
  console.warn(`${test} is skipped: no data in ${folder} (set SKEIN_DATA)`);
  return true;
}
