// What the threads of a server use, from /proc: CPU time, and how often each of them slept until something woke it.

import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;

interface Thread {
  readonly cpuMs: number;
  readonly wakeUps: number;
}

export interface ThreadsUsage {
  /** CPU milliseconds of each thread: the main thread, then the others from the busiest on. */
  readonly cpuMs: readonly number[];
  /** Of all threads together. */
  readonly wakeUps: number;
}

/** Starts measuring; the returned function says what was used since. Throws where there is no /proc. */
export function threadsMeter(pid: number): () => ThreadsUsage {
  const before = read(pid);
  return () => {
    const after = read(pid);
    const since = (id: number, what: keyof Thread): number =>
      after.get(id)![what] - (before.get(id)?.[what] ?? 0);
    const others = [...after.keys()].filter((id) => id !== pid);
    const busiest = others.map((id) => since(id, "cpuMs")).sort((a, b) => b - a);
    return {
      cpuMs: [since(pid, "cpuMs"), ...busiest],
      wakeUps: [...after.keys()].reduce((sum, id) => sum + since(id, "wakeUps"), 0),
    };
  };
}

function read(pid: number): ReadonlyMap<number, Thread> {
  const threads = new Map<number, Thread>();
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${id}`;
    try {
      const stat = readFileSync(`${folder}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const status = readFileSync(`${folder}/status`, "utf8");
      const wakeUps = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      threads.set(Number(id), { cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK, wakeUps });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // the thread has ended
    }
  }
  return threads;
}
