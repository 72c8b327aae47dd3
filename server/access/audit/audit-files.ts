// Names and rotates the audit log's files: audit.ndjson is the current file, audit.1.ndjson the previous one,
// and so on. Knows nothing about the entries in them.
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "../../ground/data-dir/durable-files.js";
import { fault } from "../../ground/fault.js";

const OLDER = /^audit\.([1-9]\d{0,5})\.ndjson$/;

/** Path of one of the log's files. Number 0 is the current file. */
export function auditFile(directory: string, number: number): string {
  return join(directory, number === 0 ? "audit.ndjson" : `audit.${number}.ndjson`);
}

/** Numbers of the existing files, newest first, without the current file. */
export async function olderNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => Number(OLDER.exec(name)?.[1] ?? 0) || []).sort((a, b) => a - b);
}

/**
 * Frees the name audit.ndjson for a new file. The current file must not be open. Each older file moves up by
 * one number, up to the first free number. If all `filesMax` names are taken, the oldest file is overwritten.
 * If the process dies halfway, one number stays free and the next rotation fills it: no file is lost, and the
 * order stays intact.
 */
export async function rotate(directory: string, filesMax: number): Promise<void> {
  const numbers = await olderNumbers(directory);
  let free = 1;
  while (numbers.includes(free)) free++;
  const last = Math.min(free, filesMax - 1);
  const tooMany = numbers.filter((number) => number >= filesMax);
  for (const number of last === 0 ? [0, ...tooMany] : tooMany) await rm(auditFile(directory, number));
  for (let number = last; number > 0; number--) {
    await rename(auditFile(directory, number - 1), auditFile(directory, number));
    fault("audit.during-rotation");
  }
  await syncDirectory(directory);
}
