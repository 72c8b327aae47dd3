// `node dist/bench/generate.js DOCUMENTS [SEED] > catalogue.jsonl` writes a generated catalogue, one document
// per line.
import { once } from "node:events";
import { generateCatalogue } from "./catalogue/generate.js";

const LINES_PER_WRITE = 200;

async function main(): Promise<void> {
  const count = Number(process.argv[2]);
  const seed = Number(process.argv[3] ?? 1);
  if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
    process.stderr.write("usage: node dist/bench/generate.js DOCUMENTS [SEED] > catalogue.jsonl\n");
    process.exitCode = 2;
    return;
  }
  let lines: string[] = [];
  const flush = async () => {
    if (!process.stdout.write(lines.join(""))) await once(process.stdout, "drain");
    lines = [];
  };
  for (const document of generateCatalogue(count, seed)) {
    if (lines.push(`${document}\n`) >= LINES_PER_WRITE) await flush();
  }
  await flush();
}

await main();
