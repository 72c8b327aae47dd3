// What a run of attacks prints: a table, row by row as attacks end, and after it the bounds that do not hold.
import type { Outcome } from "./outcome.js";
import type { VisitorReport } from "./visitor.js";

const HEAD = [
  "attack",
  "load",
  "requests",
  "how they ended",
  "longest s",
  "other tenant: p50, p99, longest ms; refused, failed",
  "same tenant",
  "MiB before, peak, after",
  "drained after s",
  "stop s",
  "bounds",
];

/** The first lines of the table. */
export function tableHead(): string {
  return [HEAD, HEAD.map(() => "---")].map(line).join("\n");
}

export function rowOf({
  attack,
  load,
  counts,
  same,
  other,
  resident,
  lived,
  drainMs,
  stop,
  findings,
}: Outcome): string {
  const endings = Object.entries(counts.endings).map(([how, count]) => `${how}: ${count}`);
  return line([
    attack.name,
    load.toFixed(1),
    String(counts.sent),
    endings.join(", "),
    (counts.longestMs / 1000).toFixed(1),
    visitorCell(other),
    visitorCell(same),
    [resident.before, resident.peak, resident.after].map((mib) => mib.toFixed(0)).join(", "),
    drainMs === null ? "-" : (drainMs / 1000).toFixed(1),
    lived ? (stop.ms / 1000).toFixed(1) : "ended",
    findings.length === 0 ? "hold" : `${findings.length} broken`,
  ]);
}

function visitorCell({ p50, p99, max, refused, failed }: VisitorReport): string {
  const times = [p50, p99, max].map((ms) => ms.toFixed(0)).join(", ");
  return `${times}; ${(refused * 100).toFixed(1)} %, ${(failed * 100).toFixed(1)} %`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export function findingsOf(outcomes: readonly Outcome[]): string {
  const broken = outcomes.filter(({ findings }) => findings.length > 0);
  if (broken.length === 0) return "all bounds hold";
  return broken.map(({ attack, findings }) => `${attack.name}: ${findings.join("; ")}`).join("\n");
}
