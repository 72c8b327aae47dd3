// `npm run bench:micro` runs every micro benchmark, which compares a kernel with a naive JavaScript
// implementation. Prints a table and writes it to bench/results/micro.json and .md. The numbers are for
// comparisons on one machine, not promises.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Bench } from "tinybench";
import { machineCard, machineText } from "./machine.js";
import { makeFixture } from "./micro/fixture.js";
import { modelPairs } from "./micro/model-pairs.js";
import { microPairs, type Pair } from "./micro/pairs.js";
import { scanPairs } from "./micro/scan-pairs.js";

interface Row {
  readonly name: string;
  readonly kernelMicroseconds: number;
  readonly naiveMicroseconds: number;
}

const { values } = parseArgs({
  options: {
    documents: { type: "string", default: "20000" },
    milliseconds: { type: "string", default: "400" },
    only: { type: "string" },
    out: { type: "string", default: "bench/results" },
  },
});

const fixture = await makeFixture(Number(values.documents));
const rows: Row[] = [];
for (const pair of [...microPairs(fixture), ...modelPairs(fixture), ...(await scanPairs())]) {
  if (values.only !== undefined && !pair.name.includes(values.only)) continue;
  rows.push(await measure(pair, Number(values.milliseconds)));
}
report(rows);

/** Measures a kernel and its twin and returns their median times. Throws if they return different results. */
async function measure(pair: Pair, milliseconds: number): Promise<Row> {
  const [fromKernel, fromNaive] = [pair.kernel(), pair.naive()];
  if (fromKernel !== fromNaive) {
    throw new Error(`${pair.name}: the kernel says ${fromKernel}, the naive twin ${fromNaive}`);
  }
  const bench = new Bench({ time: milliseconds, warmupTime: milliseconds / 4 });
  bench.add("kernel", () => void pair.kernel());
  bench.add("naive", () => void pair.naive());
  await bench.run();
  const median = (name: string) => {
    const result = bench.getTask(name)?.result;
    if (result?.state !== "completed") throw new Error(`${pair.name}: ${name} did not complete`);
    return result.latency.p50 * 1000;
  };
  return { name: pair.name, kernelMicroseconds: median("kernel"), naiveMicroseconds: median("naive") };
}

function report(results: readonly Row[]): void {
  const card = machineCard(`npm run bench:micro -- ${process.argv.slice(2).join(" ")}`.trim());
  const lines = [
    "# Kernels beside naive twins",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${values.documents} generated documents in one segment; median microseconds, through the host binding.`,
    "",
    "| work | kernel us | naive JavaScript us | ratio |",
    "| --- | --- | --- | --- |",
    ...results.map(
      ({ name, kernelMicroseconds: kernel, naiveMicroseconds: naive }) =>
        `| ${name} | ${kernel.toFixed(1)} | ${naive.toFixed(1)} | ${(naive / kernel).toFixed(1)} |`,
    ),
  ];
  const markdown = `${lines.join("\n")}\n`;
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, "micro.md"), markdown);
  writeFileSync(
    join(values.out, "micro.json"),
    `${JSON.stringify({ machine: card, rows: results }, null, 2)}\n`,
  );
  process.stdout.write(markdown);
}
