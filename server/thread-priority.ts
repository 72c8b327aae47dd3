// Which threads get a core first when there are fewer cores than work. Linux has a priority for each thread; a new one
// begins with that of the thread that starts it.
import { readdir } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";

/** A third of the share of a core that a thread of normal priority gets: LevelDB locks out reads at times, so never nothing. */
const NICE = 5;

/**
 * To be called before the process starts threads of its own: Node's helpers (V8's collector and compiler, the pool that
 * commits for LevelDB) give way to the threads that answer, and so does LevelDB's compaction, which the pool starts.
 */
export async function helpersGiveWay(): Promise<void> {
  if (process.platform !== "linux") return;
  for (const thread of await readdir("/proc/self/task").catch(() => [])) {
    if (Number(thread) !== process.pid) giveWay(Number(thread));
  }
}

/** The calling thread gives way. */
export function thisThreadGivesWay(): void {
  if (process.platform === "linux") giveWay(0);
}

/** Without effect for a thread that has just ended. */
function giveWay(thread: number): void {
  try {
    setPriority(thread, Math.min(getPriority(thread) + NICE, constants.priority.PRIORITY_LOW));
  } catch {
    // it is an advantage, not a need
  }
}
