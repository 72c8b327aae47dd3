// Splits a file of lines into equal parts, and joins such files.

import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";

/**
 * Returns the parts' paths: `to`, a hyphen, the part's number and .jsonl. Lines are dealt round-robin, so
 * that the parts are similar.
 */
export async function cutFile(path: string, to: string, parts: number): Promise<string[]> {
  const paths = Array.from({ length: parts }, (_, part) => `${to}-${part}.jsonl`);
  const files = paths.map((part) => createWriteStream(part));
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const file = files[line++ % parts]!;
    if (!file.write(`${text}\n`)) await once(file, "drain");
  }
  for (const file of files) file.end();
  await Promise.all(files.map((file) => finished(file)));
  return paths;
}

/** Returns the path of the new file. */
export async function joinFiles(paths: readonly string[], to: string): Promise<string> {
  for (const path of paths) await appendFile(to, await readFile(path));
  return to;
}
