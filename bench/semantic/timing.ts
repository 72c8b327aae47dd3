// Measures how long a piece of work takes in this process: the median of many runs, and CPU time, which other
// processes affect less.

import { median } from "../median.js";

export interface Timed {
  readonly medianMs: number;
  /** User and system time of all threads, per run. */
  readonly cpuMs: number;
}

const WARM_UP_RUNS = 5;
const RUNS_MIN = 5;

/** Repeats the work for `milliseconds`, but at least five times, after a few runs that let V8 compile it. */
export function timed(work: () => void, milliseconds: number): Timed {
  for (let run = 0; run < WARM_UP_RUNS; run++) work();
  const times: number[] = [];
  const cpu = process.cpuUsage();
  const end = performance.now() + milliseconds;
  for (let now = performance.now(); now < end || times.length < RUNS_MIN; ) {
    work();
    const done = performance.now();
    times.push(done - now);
    now = done;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { medianMs: median(times), cpuMs: (user + system) / 1000 / times.length };
}
