// The files of the audit log: audit.ndjson is written, audit.1.ndjson is the one before it, and so on. Knows no entry.
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "../../ground/data-dir/durable-files.js";
import { fault } from "../../ground/fault.js";

const OLDER = /^audit\.([1-9]\d{0,5})\.ndjson$/;

/** 0: the one that is written. */
export function auditFile(directory: string, number: number): string {
  return join(directory, number === 0 ? "audit.ndjson" : `audit.${number}.ndjson`);
}

/** Those that exist but for the one that is written, newest first. */
export async function olderNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => Number(OLDER.exec(name)?.[1] ?? 0) || []).sort((a, b) => a - b);
}

/**
 * Gives audit.ndjson, which nobody has open, its number, so that a new one can be begun. Each older file moves up by one as far
 * as the first number that is free; the oldest one of `filesMax` is written over. A process that ends in the middle leaves a
 * number free, which the next rotation fills: no file is lost, and no two have changed places.
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
