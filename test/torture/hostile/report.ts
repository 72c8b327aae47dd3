// What a run of attacks prints: a line per attack when it is over, and a table at the end.
import type { Outcome } from "./outcome.js";
import type { VisitorReport } from "./visitor.js";

export function lineOf({ attack, findings }: Outcome): string {
  return `${attack.name}: ${findings.length === 0 ? "ok" : findings.join("; ")}`;
}

const HEAD = [
  "attack",
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

export function tableOf(outcomes: readonly Outcome[]): string {
  const rows = [HEAD, HEAD.map(() => "---"), ...outcomes.map(rowOf)];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function rowOf({ attack, counts, same, other, resident, lived, drainMs, stop, findings }: Outcome): string[] {
  const endings = Object.entries(counts.endings).map(([how, count]) => `${how}: ${count}`);
  return [
    attack.name,
    String(counts.sent),
    endings.join(", "),
    (counts.longestMs / 1000).toFixed(1),
    visitorCell(other),
    visitorCell(same),
    [resident.before, resident.peak, resident.after].map((mib) => mib.toFixed(0)).join(", "),
    drainMs === null ? "-" : (drainMs / 1000).toFixed(1),
    lived ? (stop.ms / 1000).toFixed(1) : "ended",
    findings.length === 0 ? "hold" : `${findings.length} broken`,
  ];
}

function visitorCell({ p50, p99, max, refused, failed }: VisitorReport): string {
  const times = [p50, p99, max].map((ms) => ms.toFixed(0)).join(", ");
  return `${times}; ${(refused * 100).toFixed(1)} %, ${(failed * 100).toFixed(1)} %`;
}
