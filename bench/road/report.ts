// Writes a `bench:road` result as JSON for programs and as Markdown for people.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MachineCard, machineText } from "../machine.js";
import type { RoadCost, RoadSet } from "./measure.js";

export interface RoadResult {
  readonly card: MachineCard;
  readonly setting: string;
  readonly sets: readonly RoadSet[];
}

/** Writes `<folder>/<name>.json` and `.md`; returns the Markdown. */
export function writeRoad(folder: string, name: string, result: RoadResult): string {
  mkdirSync(folder, { recursive: true });
  const markdown = markdownOf(result);
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(folder, `${name}.md`), markdown);
  return markdown;
}

function markdownOf({ card, setting, sets }: RoadResult): string {
  const lines = [
    "# The road of a query",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${setting} p50 and p99: medians of the trials. The rest: means of a query; CPU in microseconds of the HTTP thread, of the busiest other thread, and of all others together; bytes: what all threads allocate in V8's heaps; promises: those of the HTTP thread.`,
    "",
    "| documents | queries | server | per CPU s | p50 ms | p99 ms | HTTP µs | busiest other µs | others µs | messages | wake-ups | bytes | promises | remembered |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...sets.flatMap(({ name, documents, kind, measured }) =>
      measured.map((cost) => `| ${documents} (${name}) | ${kind} | ${cost.name} | ${figures(cost)} |`),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function figures(cost: RoadCost): string {
  const { perCpuSecond, p50, p99, cpuUs, messages, wakeUps, allocatedBytes, promises, remembered } = cost;
  return [
    perCpuSecond.toFixed(0),
    p50.toFixed(2),
    p99.toFixed(2),
    ...cpuUs.map((us) => us.toFixed(0)),
    messages.toFixed(1),
    wakeUps.toFixed(1),
    allocatedBytes.toFixed(0),
    promises.toFixed(1),
    `${(remembered * 100).toFixed(0)} %`,
  ].join(" | ");
}
