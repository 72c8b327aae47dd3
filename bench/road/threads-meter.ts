// Reads from /proc how much CPU time each of a server's threads used and how often it was woken up (counted
// as voluntary context switches).

import { readdirSync, readFileSync } from "node:fs";

const NS_PER_MS = 1e6;

interface Thread {
  readonly cpuMs: number;
  readonly wakeUps: number;
}

export interface ThreadsUsage {
  /** CPU milliseconds per thread: the main thread, then the others, busiest first. */
  readonly cpuMs: readonly number[];
  /** Id of the busiest thread. */
  readonly busiest: number;
  /** Sum over all threads. */
  readonly wakeUps: number;
}

/**
 * Starts measuring. The returned function reports the usage since the start. Throws on systems without /proc.
 */
export function threadsMeter(pid: number): () => ThreadsUsage {
  const before = read(pid);
  return () => {
    const after = read(pid);
    const since = (id: number, what: keyof Thread): number =>
      after.get(id)![what] - (before.get(id)?.[what] ?? 0);
    const others = [...after.keys()].filter((id) => id !== pid);
    const cpuOf = (id: number): number => since(id, "cpuMs");
    others.sort((a, b) => cpuOf(b) - cpuOf(a));
    return {
      cpuMs: [pid, ...others].map(cpuOf),
      busiest: others.length === 0 || cpuOf(pid) > cpuOf(others[0]!) ? pid : others[0]!,
      wakeUps: [...after.keys()].reduce((sum, id) => sum + since(id, "wakeUps"), 0),
    };
  };
}

function read(pid: number): ReadonlyMap<number, Thread> {
  const threads = new Map<number, Thread>();
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${id}`;
    try {
      const cpuMs = Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]) / NS_PER_MS;
      const status = readFileSync(`${folder}/status`, "utf8");
      const wakeUps = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      threads.set(Number(id), { cpuMs, wakeUps });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // the thread has ended
    }
  }
  return threads;
}
