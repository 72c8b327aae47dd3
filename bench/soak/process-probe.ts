// Reads from /proc which resources a process occupies: resident memory and open file descriptors.
import { readdirSync, readFileSync } from "node:fs";

export interface Held {
  readonly residentMiB: number;
  readonly handles: number;
}

/** Throws on systems without /proc, or if the process has ended. */
export function heldBy(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  return { residentMiB: kib / 1024, handles: readdirSync(`/proc/${pid}/fd`).length };
}
