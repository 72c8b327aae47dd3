// Describes the machine on which a benchmark runs. Every result contains this description, because its
// numbers can only be compared with numbers from the same machine.

import { execFileSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";

export interface MachineCard {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  /** ISO 8601 UTC. */
  readonly date: string;
  /** The measured commit; "+changes" if the tree was dirty. */
  readonly commit: string;
  readonly command: string;
}

export function machineCard(command: string): MachineCard {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    date: new Date().toISOString(),
    commit: commit(),
    command,
  };
}

export function machineText(card: MachineCard): string {
  return `${card.cores} x ${card.cpu}, ${card.memoryGiB} GiB, ${card.system}, Node ${card.node}, ${card.date.slice(0, 10)}, commit ${card.commit}`;
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const changed = git("status", "--porcelain", "--untracked-files=no") !== "";
    return git("rev-parse", "--short", "HEAD") + (changed ? "+changes" : "");
  } catch {
    return "unknown";
  }
}
