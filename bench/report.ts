// Writes a result twice: JSON for programs, Markdown for people.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Latencies, LoadResult } from "./load/drive.js";
import { type MachineCard, machineText } from "./machine.js";

export interface HttpResult {
  readonly name: string;
  readonly why: string;
  readonly machine: MachineCard;
  readonly data: { readonly name: string; readonly documents: number; readonly jsonBytes: number };
  readonly import: {
    readonly seconds: number;
    readonly documentsPerSecond: number;
    readonly rejected: number;
    readonly serverCpuSeconds: number | null;
    readonly clientCpuSeconds: number;
  };
  /** Until background merges had ended; null when not known. */
  readonly settledSeconds: number | null;
  /** Of a few hundred queries of the mix: how many found nothing, and the median number found. */
  readonly answers: { readonly checked: number; readonly empty: number; readonly medianFound: number };
  readonly loads: readonly (LoadResult & {
    readonly serverCpuSeconds: number | null;
    readonly clientCpuSeconds: number;
  })[];
  readonly residentBytes: {
    readonly afterImport: number;
    readonly afterQueries: number;
    readonly peak: number;
  } | null;
  readonly disk: { readonly bytes: number; readonly bytesPerDocument: number } | null;
  /** From starting the process to the first answered query. */
  readonly restartMs: number | null;
}

/** Writes `<folder>/<file>.json` and `.md`; returns the Markdown. */
export function writeResult(folder: string, file: string, result: HttpResult): string {
  mkdirSync(folder, { recursive: true });
  const markdown = httpMarkdown(result);
  writeFileSync(join(folder, `${file}.json`), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(folder, `${file}.md`), markdown);
  return markdown;
}

function httpMarkdown(r: HttpResult): string {
  const lines = [
    `# ${r.name}`,
    "",
    r.why,
    "",
    `${machineText(r.machine)}`,
    `\`${r.machine.command}\``,
    "",
    `Documents: ${r.data.name}; ${count(r.data.documents)}, ${mib(r.data.jsonBytes)} of JSON.`,
    "",
    "| import | |",
    "| --- | --- |",
    `| documents/s | ${count(r.import.documentsPerSecond)} (${r.import.seconds.toFixed(1)} s, ${r.import.rejected} rejected) |`,
    `| CPU seconds server / client | ${cpu(r.import.serverCpuSeconds)} / ${cpu(r.import.clientCpuSeconds)} |`,
  ];
  if (r.settledSeconds !== null) lines.push(`| merges ended after | ${r.settledSeconds.toFixed(1)} s |`);
  if (r.residentBytes !== null) {
    const { afterImport, afterQueries, peak } = r.residentBytes;
    lines.push(
      `| resident after import / after queries / peak | ${mib(afterImport)} / ${mib(afterQueries)} / ${mib(peak)} |`,
    );
  }
  if (r.disk !== null)
    lines.push(`| disk | ${mib(r.disk.bytes)}, ${count(r.disk.bytesPerDocument)} bytes/document |`);
  if (r.restartMs !== null) lines.push(`| restart to first answer | ${count(r.restartMs)} ms |`);
  lines.push(
    "",
    `Of ${r.answers.checked} queries ${r.answers.empty} found nothing; the median found ${count(r.answers.medianFound)}.`,
    "",
    "| clients | queries | queries/s | p50 ms | p95 ms | p99 ms | max ms | failed | CPU s server / client |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const load of r.loads) {
    const times = latencyCells(load.latency);
    const cpus = `${cpu(load.serverCpuSeconds)} / ${cpu(load.clientCpuSeconds)}`;
    lines.push(
      `| ${load.concurrency} | ${count(load.queries)} | ${count(load.perSecond)} | ${times} | ${load.failed} | ${cpus} |`,
    );
  }
  for (const load of r.loads) {
    lines.push("", `By kind, ${load.concurrency} ${load.concurrency === 1 ? "client" : "clients"}:`, "");
    lines.push(
      "| kind | queries | p50 ms | p95 ms | p99 ms | max ms |",
      "| --- | --- | --- | --- | --- | --- |",
    );
    for (const [kind, latency] of Object.entries(load.byKind)) {
      lines.push(`| ${kind} | ${count(latency.count)} | ${latencyCells(latency)} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function latencyCells(latency: Latencies): string {
  return [latency.p50, latency.p95, latency.p99, latency.max].map((ms) => ms.toFixed(2)).join(" | ");
}

function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function cpu(seconds: number | null): string {
  return seconds === null ? "?" : seconds.toFixed(1);
}
