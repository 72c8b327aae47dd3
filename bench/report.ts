// Writes a `bench:http` result as JSON for programs and as Markdown for people.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Baseline, Side } from "./load/baseline.js";
import type { ImportOutcome } from "./load/bulk-import.js";
import type { Latencies } from "./load/drive.js";
import type { KindAlone, MeasuredLoad } from "./load/measure.js";
import type { ManyIndexes, Rounds } from "./load/memory-rounds.js";
import type { PacedReads } from "./load/paced-reads.js";
import type { SectionBytes } from "./load/segment-sections.js";
import type { Memory } from "./load/server-process.js";
import { type MachineCard, machineText } from "./machine.js";

export interface HttpResult {
  readonly name: string;
  readonly why: string;
  readonly machine: MachineCard;
  readonly shards: number;
  readonly data: { readonly name: string; readonly documents: number; readonly jsonBytes: number };
  readonly import: ImportOutcome & {
    readonly reads: PacedReads | null;
    readonly serverCpuSeconds: number | null;
    readonly clientCpuSeconds: number;
  };
  /** Seconds until background merges ended; null if unknown. */
  readonly settledSeconds: number | null;
  /**
   * A few hundred of the mix's queries: how many were checked, how many had no results, and the median result
   * count.
   */
  readonly answers: { readonly checked: number; readonly empty: number; readonly medianFound: number };
  readonly alone: readonly KindAlone[];
  readonly mixed: readonly MeasuredLoad[];
  readonly baseline: Baseline | null;
  readonly memory: { readonly afterImport: Memory; readonly afterQueries: Memory } | null;
  readonly diskBytes: number | null;
  readonly index: SectionBytes | null;
  /** Milliseconds from starting the process to the first answered query. */
  readonly restartMs: number | null;
  readonly rounds: Rounds | null;
  readonly manyIndexes: ManyIndexes | null;
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
    machineText(r.machine),
    `\`${r.machine.command}\``,
    "",
    `Documents: ${r.data.name}; ${count(r.data.documents)}, ${mib(r.data.jsonBytes)} of JSON, ${count(r.data.jsonBytes / Math.max(1, r.data.documents))} bytes each. Shards: ${r.shards}.`,
    "",
    ...importTable(r),
    "",
    ...spaceTable(r),
    "",
    `Of ${r.answers.checked} queries ${r.answers.empty} found nothing; the median found ${count(r.answers.medianFound)}.`,
  ];
  if (r.alone.length > 0)
    lines.push("", "## Each kind of query alone, one client", "", ...aloneTable(r.alone));
  lines.push("", "## All kinds together", "", ...mixedTable(r.mixed));
  for (const load of r.mixed) lines.push("", ...kindTable(load));
  if (r.baseline !== null) lines.push("", "## HTTP", "", ...baselineTable(r.baseline));
  return `${lines.join("\n")}\n`;
}

function importTable({ import: done, settledSeconds }: HttpResult): string[] {
  const [first, slowest] = [done.tenths[0] ?? 0, Math.min(...done.tenths)];
  const lines = [
    "| import | |",
    "| --- | --- |",
    `| documents/s | ${count(done.documents / done.seconds)} (${done.seconds.toFixed(1)} s, ${done.rejected} rejected, ${done.repeated} requests repeated) |`,
    `| documents/s by tenth | ${done.tenths.map(count).join(", ")} |`,
    `| slowest tenth / first | ${(slowest / Math.max(1, first)).toFixed(2)} |`,
    `| CPU seconds server / client | ${cpu(done.serverCpuSeconds)} / ${cpu(done.clientCpuSeconds)} |`,
  ];
  if (done.reads !== null) {
    const { perSecond, latency, sinceDue, refused, failed } = done.reads;
    lines.push(
      `| queries meanwhile, ${perSecond} a second | p50 ${latency.p50.toFixed(2)}, p99 ${latency.p99.toFixed(2)}, max ${latency.max.toFixed(2)} ms; since they were due p99 ${sinceDue.p99.toFixed(2)} ms; of ${count(latency.count)} ${refused} refused, ${failed} failed |`,
    );
  }
  if (settledSeconds !== null) lines.push(`| merges ended after | ${settledSeconds.toFixed(1)} s |`);
  return lines;
}

function spaceTable(r: HttpResult): string[] {
  const json = Math.max(1, r.data.jsonBytes);
  const against = (bytes: number): string => `${mib(bytes)}, ${(bytes / json).toFixed(2)} of the JSON`;
  const lines = ["| memory, disk, restart | |", "| --- | --- |"];
  if (r.memory !== null) {
    const { afterImport, afterQueries } = r.memory;
    lines.push(
      `| resident after import | ${against(afterImport.now)} (${mib(afterImport.anonymous)} without mapped files) |`,
      `| resident after queries | ${against(afterQueries.now)} (${mib(afterQueries.anonymous)} without mapped files) |`,
      `| resident at most | ${against(afterQueries.peak)} |`,
    );
  }
  if (r.diskBytes !== null) lines.push(`| disk | ${against(r.diskBytes)} |`);
  if (r.index !== null) {
    const { bytes, segments, postings, terms, lists, positions, dictionary, columns } = r.index;
    const per = (part: number, number: number): string => (part / Math.max(1, number)).toFixed(2);
    lines.push(
      `| index | ${against(bytes)}, ${segments} segments, ${count(postings)} postings, ${count(terms)} terms |`,
      `| bytes a posting | ${per(lists, postings)} and ${per(positions, postings)} of positions |`,
      `| bytes a term | ${per(dictionary, terms)} |`,
      `| columns, ids | ${mib(columns)} |`,
    );
  }
  if (r.restartMs !== null) lines.push(`| restart to first answer | ${count(r.restartMs)} ms |`);
  if (r.rounds !== null) {
    const { rounds, documentsPerRound, first, last } = r.rounds;
    lines.push(
      `| ${rounds} rounds of create, fill (${count(documentsPerRound)}), drop | ${mib(first.now)} after the first, ${mib(last.now)} after the last: ${(last.now / first.now).toFixed(2)} |`,
    );
  }
  if (r.manyIndexes !== null) {
    const { indexes, documentsPerIndex, before, after, firstQueryMs, restarted, ...many } = r.manyIndexes;
    const middle = firstQueryMs[firstQueryMs.length >> 1] ?? 0;
    lines.push(
      `| ${count(indexes)} indexes of ${documentsPerIndex} | ${mib(before.now)} before, ${mib(after.now)} after: ${count((after.now - before.now) / indexes / 1024)} KiB each, ${count(many.loaded)} of them loaded |`,
      `| made and filled | ${((many.seconds * 1000) / indexes).toFixed(1)} ms each, 95 % within ${many.slowFillMs.toFixed(1)} ms |`,
      `| first query on one that was unloaded (${many.openings} of ${firstQueryMs.length} were) | median ${middle.toFixed(1)} ms, at most ${(firstQueryMs.at(-1) ?? 0).toFixed(1)} ms |`,
      `| restart with all of them, to the first answer | ${count(many.restartMs)} ms; ${mib(restarted.now)} when all were looked at, ${count(restarted.loaded)} loaded |`,
    );
  }
  return lines;
}

function aloneTable(kinds: readonly KindAlone[]): string[] {
  const phases = Object.keys(kinds[0]!.usage.phases);
  return [
    `| kind | median found | p50 ms | p95 ms | p99 ms | max ms | per CPU s | remembered | messages | ${phases.map((phase) => `${phase} ms`).join(" | ")} |`,
    `| --- | --- | --- | --- | --- | --- | --- | --- | --- | ${phases.map(() => "---").join(" | ")} |`,
    ...kinds.map(
      ({ kind, medianFound, latency, queries, usage }) =>
        `| ${kind} | ${count(medianFound)} | ${latencyCells(latency)} | ${rate(queries, usage.cpuSeconds)} | ${share(usage.remembered)} | ${usage.messagesPerQuery.toFixed(1)} | ${phases.map((phase) => (usage.phases[phase] ?? 0).toFixed(2)).join(" | ")} |`,
    ),
  ];
}

function mixedTable(loads: readonly MeasuredLoad[]): string[] {
  return [
    "| clients | queries | queries/s | per CPU s | remembered | p50 ms | p95 ms | p99 ms | max ms | failed | CPU s server / client | HTTP thread busy | its garbage collection | shards busy |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...loads.map(({ concurrency, queries, perSecond, latency, failed, usage, clientCpuSeconds }) => {
      const cpus = `${cpu(usage.cpuSeconds)} / ${cpu(clientCpuSeconds)}`;
      const busy = `${share(usage.httpBusy)} | ${share(usage.httpGarbage)} | ${usage.shardsBusy.map(share).join(", ")}`;
      return `| ${concurrency} | ${count(queries)} | ${count(perSecond)} | ${rate(queries, usage.cpuSeconds)} | ${share(usage.remembered)} | ${latencyCells(latency)} | ${failed} | ${cpus} | ${busy} |`;
    }),
  ];
}

function kindTable({ concurrency, byKind }: MeasuredLoad): string[] {
  return [
    `By kind, ${concurrency} ${concurrency === 1 ? "client" : "clients"}:`,
    "",
    "| kind | queries | p50 ms | p95 ms | p99 ms | max ms |",
    "| --- | --- | --- | --- | --- | --- |",
    ...Object.entries(byKind).map(
      ([kind, latency]) => `| ${kind} | ${count(latency.count)} | ${latencyCells(latency)} |`,
    ),
  ];
}

function baselineTable({ replyBytes, repeated, different, bare }: Baseline): string[] {
  const row = (name: string, { perSecond, perCpuSecond, remembered }: Side): string => {
    const ofBare = (rate: number | null, bareRate: number | null): string =>
      rate === null || bareRate === null ? "?" : `${count(rate)} (${share(rate / bareRate)})`;
    const cells = [ofBare(perSecond, bare.perSecond), ofBare(perCpuSecond, bare.perCpuSecond)];
    return `| ${name} | ${cells.join(" | ")} | ${remembered === null ? "" : share(remembered)} |`;
  };
  return [
    `A trivial query on 100 documents beside a bare handler of the same HTTP library; ${replyBytes} bytes an answer, 32 clients in one process (which limits the bare one).`,
    "",
    "| | requests/s | per server CPU s | remembered |",
    "| --- | --- | --- | --- |",
    row("Skein, always the same query", repeated),
    row("Skein, another filter each time", different),
    row("bare handler", bare),
  ];
}

function latencyCells(latency: Latencies): string {
  return [latency.p50, latency.p95, latency.p99, latency.max].map((ms) => ms.toFixed(2)).join(" | ");
}

function rate(queries: number, cpuSeconds: number | null): string {
  return cpuSeconds === null || cpuSeconds === 0 ? "?" : count(queries / cpuSeconds);
}

function share(part: number): string {
  return `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
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
