// Adds an `embedding` member to each document in a file. Its numbers are random and have few digits, which
// makes about 3 KiB per document.

import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { VECTOR_SIZE } from "../../engine-wasm/assembly/layout.js";
import { Random } from "../random.js";

/**
 * Number of distinct vectors. Documents share them: generating a vector for each would take longer than the
 * import.
 */
const VECTORS = 500;
const DIGITS = 3;

export async function writePushed(from: string, to: string): Promise<void> {
  const random = new Random(11);
  const vectors = Array.from({ length: VECTORS }, () => {
    const numbers = Array.from({ length: VECTOR_SIZE }, () => (random.next() - 0.5).toFixed(DIGITS));
    return `"embedding":[${numbers.join(",")}]`;
  });
  const lines = async function* (): AsyncGenerator<string> {
    let line = 0;
    for await (const json of createInterface({ input: createReadStream(from) }))
      yield `${json.slice(0, -1)},${vectors[line++ % VECTORS]}}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(to));
}
