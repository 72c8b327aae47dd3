// Compares what happened during an attack with its bounds. Pure.
import type { Bounds, VisitorBounds } from "./attack.js";
import type { Seen } from "./outcome.js";
import type { VisitorReport } from "./visitor.js";

/** Returns a sentence for each bound that does not hold. */
export function judge(seen: Seen, bounds: Bounds, heapMiB: number): string[] {
  const { attack, counts, resident, lived, drainMs, stop, errors } = seen;
  if (!lived) return [`the process ended (${stop.code ?? "by a signal"})`];
  const grown = resident.peak - resident.before;
  const kept = resident.after - resident.before;
  const { overdue = 0 } = counts.endings;
  const serverErrors = Object.entries(counts.endings).filter(([how]) => /^5/.test(how) && how !== "503");
  const isStop = attack.mishap?.kind === "stop";
  const checks: [boolean, string][] = [
    [grown > bounds.grownMax * heapMiB, `memory grew by ${grown.toFixed(0)} MiB`],
    [
      kept > bounds.keptMax * heapMiB,
      `${kept.toFixed(0)} MiB more than before were still used after the rest`,
    ],
    [overdue > 0, `${overdue} requests had not ended when their clients gave up`],
    [overdue === 0 && counts.longestMs > bounds.endMsMax, `a request took ${seconds(counts.longestMs)}`],
    [counts.withoutRetryAfter > 0, `${counts.withoutRetryAfter} refusals had no Retry-After`],
    ...serverErrors.map(([status, count]): [boolean, string] => [true, `${count} answers were ${status}`]),
    [
      (drainMs ?? 0) > bounds.drainMsMax,
      `requests were in flight ${seconds(drainMs ?? 0)} after the last client`,
    ],
    [stop.ms > bounds.stopMsMax, `the stop took ${seconds(stop.ms)}`],
    [stop.code !== 0, `the stop ended with ${stop.code ?? "a signal"}`],
    [
      errors.length > 0 && attack.mishap === undefined,
      `errors in the log: ${[...new Set(errors)].join("; ")}`,
    ],
    // A server that stops answers nobody.
    ...(isStop ? [] : visitorChecks("the same tenant", seen.same, bounds.sameTenant)),
    ...(isStop ? [] : visitorChecks("another tenant", seen.other, bounds.otherTenant)),
  ];
  return checks.filter(([broken]) => broken).map(([, sentence]) => sentence);
}

function visitorChecks(of: string, seen: VisitorReport, bounds: VisitorBounds): [boolean, string][] {
  const { p99, max, refused, failed, withoutRetryAfter } = seen;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  return [
    [p99 > bounds.p99MsMax, `searches of ${of} took ${seconds(p99)} (p99)`],
    [max > bounds.msMax, `a search of ${of} took ${seconds(max)}`],
    [refused > bounds.refusedMax, `${percent(refused)} of the searches of ${of} were refused`],
    [failed > bounds.failedMax, `${percent(failed)} of the searches of ${of} failed`],
    [withoutRetryAfter > 0, `${withoutRetryAfter} refusals of ${of} had no Retry-After`],
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
