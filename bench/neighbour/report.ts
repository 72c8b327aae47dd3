// Writes a `bench:neighbour` result as JSON for programs and as Markdown for people.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { summarise } from "../load/drive.js";
import { type MachineCard, machineText } from "../machine.js";
import { median } from "../median.js";
import type { NoisyRound } from "./noisy-client.js";
import type { QuietRound } from "./quiet-client.js";

export interface Round extends QuietRound {
  readonly serverCpuSeconds: number | null;
  /** CPU seconds used by all processes on the machine. */
  readonly machineBusySeconds: number | null;
  /** Null if the quiet tenant was alone in this round. */
  readonly noisy: NoisyRound | null;
}

export interface Measured {
  readonly name: string;
  readonly why: string;
  readonly clients: number;
  readonly alone: readonly Round[];
  readonly beside: readonly Round[];
}

export interface NeighbourResult {
  readonly card: MachineCard;
  readonly setting: string;
  readonly measured: readonly Measured[];
}

/** Writes `<folder>/<name>.json` and `.md`; returns the Markdown. */
export function writeNeighbours(folder: string, name: string, result: NeighbourResult): string {
  mkdirSync(folder, { recursive: true });
  const markdown = markdownOf(result);
  const brief = result.measured.map(({ alone, beside, ...work }) => ({
    ...work,
    alone: alone.map(briefly),
    beside: beside.map(briefly),
  }));
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ ...result, measured: brief }, null, 2)}\n`);
  writeFileSync(join(folder, `${name}.md`), markdown);
  return markdown;
}

/** Replaces a round's times with their summary. */
function briefly({ times, ...round }: Round): object {
  return { latency: summarise(times), ...round };
}

function markdownOf({ card, setting, measured }: NeighbourResult): string {
  const lines = [
    "# One tenant's queries beside another tenant's heavy work",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${setting} Medians of the rounds; the ratio is that of the two p99. Heavy requests: answered, or abandoned by their clients. Loop delay: how late 99 % of the measuring process's own timers came at most. CPU: of one processor's time, the server's, the noisy clients', the measuring process's, and what the whole machine was busy with.`,
    "",
    "| beside | p50 alone, beside ms | p99 alone, beside ms | ratio | loop delay alone, beside ms | heavy requests/s | refused | failed | CPU server alone, beside | CPU noisy, quiet clients | machine alone, beside |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...measured.map(row),
    "",
    ...measured.map(({ name, why, clients }) => `- *${name}*: ${why}; ${clients} clients.`),
  ];
  return `${lines.join("\n")}\n`;
}

function row({ name, alone, beside }: Measured): string {
  const p = (rounds: readonly Round[], rank: "p50" | "p99"): number =>
    median(rounds.map(({ times }) => summarise(times)[rank]));
  const both = (of: (round: Round) => number, digits: number): string =>
    [alone, beside].map((rounds) => median(rounds.map(of)).toFixed(digits)).join(", ");
  const noisy = (of: (round: NoisyRound) => number): number =>
    median(beside.map((round) => of(round.noisy!)));
  const failed = [...alone, ...beside].reduce(
    (sum, round) => sum + round.failed + (round.noisy?.failed ?? 0),
    0,
  );
  const cells = [
    name,
    `${p(alone, "p50").toFixed(2)}, ${p(beside, "p50").toFixed(2)}`,
    `${p(alone, "p99").toFixed(2)}, ${p(beside, "p99").toFixed(2)}`,
    (p(beside, "p99") / p(alone, "p99")).toFixed(2),
    both(({ loopDelayMs }) => loopDelayMs, 2),
    noisy(({ answered, left, refused, seconds }) => (answered - refused + left) / seconds).toFixed(1),
    noisy(({ refused }) => refused).toFixed(0),
    failed.toFixed(0),
    both(({ serverCpuSeconds, seconds }) => (serverCpuSeconds ?? 0) / seconds, 2),
    `${noisy(({ cpuSeconds, seconds }) => cpuSeconds / seconds).toFixed(2)}, ${median(beside.map(({ cpuSeconds, seconds }) => cpuSeconds / seconds)).toFixed(2)}`,
    both(({ machineBusySeconds, seconds }) => (machineBusySeconds ?? 0) / seconds, 2),
  ];
  return `| ${cells.join(" | ")} |`;
}
