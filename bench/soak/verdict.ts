// Decides whether memory or open handles grow during a soak. Compares the median of the last quarter of the
// samples with the median of the second quarter, so that a peak does not matter. Also charts the samples as
// text.

import { median } from "../median.js";

export interface Sample {
  /** Seconds since the load began. */
  readonly seconds: number;
  readonly residentMiB: number;
  readonly handles: number;
  readonly p50: number;
  readonly p99: number;
  readonly queries: number;
}

export interface Verdict {
  readonly residentBefore: number;
  readonly residentAfter: number;
  readonly handlesBefore: number;
  readonly handlesAfter: number;
  readonly problems: readonly string[];
}

/** Resident memory may grow by this share (plus RESIDENT_MIB): a margin for garbage collection. */
const RESIDENT_SHARE = 0.1;
const RESIDENT_MIB = 32;
/** Number of additional handles tolerated, because LevelDB opens and closes tables at will. */
const HANDLES = 16;
const BARS = "▁▂▃▄▅▆▇█";

/** Compares the last quarter with the second. Needs at least four samples. */
export function judge(samples: readonly Sample[], failed: number): Verdict {
  const quarter = samples.length >> 2;
  const of = (from: number, name: "residentMiB" | "handles"): number =>
    median(samples.slice(from, from + quarter).map((sample) => sample[name]));
  const last = samples.length - quarter;
  const [residentBefore, residentAfter] = [of(quarter, "residentMiB"), of(last, "residentMiB")];
  const [handlesBefore, handlesAfter] = [of(quarter, "handles"), of(last, "handles")];
  const problems: string[] = [];
  if (residentAfter > residentBefore * (1 + RESIDENT_SHARE) + RESIDENT_MIB) {
    problems.push(
      `resident memory grew from ${residentBefore.toFixed(0)} to ${residentAfter.toFixed(0)} MiB`,
    );
  }
  if (handlesAfter > handlesBefore + HANDLES) {
    problems.push(`open handles grew from ${handlesBefore} to ${handlesAfter}`);
  }
  if (failed > 0) problems.push(`${failed} requests failed`);
  return { residentBefore, residentAfter, handlesBefore, handlesAfter, problems };
}

/** Returns one line: the values over time, scaled from lowest to highest. */
export function chartLine(name: string, values: readonly number[], width = 60): string {
  const step = Math.max(1, values.length / width);
  const columns = Array.from({ length: Math.min(width, values.length) }, (_, i) =>
    median(
      values.slice(Math.floor(i * step), Math.max(Math.floor(i * step) + 1, Math.floor((i + 1) * step))),
    ),
  );
  const [low, high] = [Math.min(...columns), Math.max(...columns)];
  const bar = (value: number): string =>
    BARS[high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))]!;
  return `${name.padEnd(14)} ${columns.map(bar).join("")} ${low.toFixed(1)} .. ${high.toFixed(1)}`;
}
