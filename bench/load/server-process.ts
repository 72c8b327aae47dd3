// Runs the server under test in its own process and reads how much CPU time, memory and disk space it uses.

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_MS_MAX = 60_000;
/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Settings that docs/OPERATIONS.md recommends for low memory use. */
const LEAN_ENVIRONMENT = { MALLOC_TRIM_THRESHOLD_: "131072" };
const LEAN_FLAGS = ["--max-semi-space-size=4"];

export interface ServerOptions {
  /** Path of the compiled command line, for instance dist/server/cli/main.js. */
  readonly main: string;
  readonly dataDir: string;
  readonly adminKey: string;
  readonly shards: number | null;
  /** Null or absent: the server's default applies. */
  readonly frontEnds?: number | null;
  readonly durability: string | null;
  readonly configFile?: string;
  /** Folder for the CPU profiles that Node writes for all threads when the server stops. */
  readonly profileDir?: string | null;
  /** Additional flags for Node. */
  readonly flags?: readonly string[];
  /** Called for each line that the server prints. */
  readonly onLine?: (line: string) => void;
}

export interface Memory {
  readonly now: number;
  readonly peak: number;
  readonly anonymous: number;
}

export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: URL,
  ) {}

  /** Resolves once the server is listening. Throws an error with the server's output if it fails to start. */
  static start(options: ServerOptions): Promise<ServerProcess> {
    const profile =
      (options.profileDir ?? null) === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profileDir}`];
    const args = [
      ...LEAN_FLAGS,
      ...(options.flags ?? []),
      ...profile,
      options.main,
      "serve",
      "--port",
      "0",
      "--data-dir",
      options.dataDir,
      "--admin-key",
      options.adminKey,
    ];
    if (options.shards !== null) args.push("--shards", String(options.shards));
    if ((options.frontEnds ?? null) !== null) args.push("--frontends", String(options.frontEnds));
    if (options.configFile !== undefined) args.push("--config", options.configFile);
    if (options.durability !== null) args.push("--durability", options.durability);
    return ServerProcess.run(args, options.onLine);
  }

  /** Runs any Node program that prints a line with `"url":"http..."` once it is listening. */
  static run(args: readonly string[], onLine?: (line: string) => void): Promise<ServerProcess> {
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...LEAN_ENVIRONMENT },
    });
    return new Promise((resolve, reject) => {
      let output = "";
      let started = false;
      const fail = (why: string) => {
        child.kill("SIGKILL");
        reject(new Error(`the server did not start (${why}): ${output}`));
      };
      const timer = setTimeout(() => fail("no address in time"), START_MS_MAX);
      child.once("exit", (code) => fail(`exit code ${code}`));
      child.stderr!.on("data", (chunk) => (output += chunk));
      createInterface({ input: child.stdout! }).on("line", (line) => {
        onLine?.(line);
        if (started) return;
        output += `${line}\n`;
        const address = /"url":"(http[^"]+)"/.exec(line)?.[1];
        if (address === undefined) return;
        started = true;
        clearTimeout(timer);
        child.removeAllListeners("exit");
        resolve(new ServerProcess(child, new URL(address)));
      });
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Sends SIGTERM and waits for the process to end. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) return resolve();
      this.child.once("exit", () => resolve());
      this.child.kill("SIGTERM");
    });
  }

  /** CPU seconds (user and system) of all its threads; null on systems without /proc. */
  cpuSeconds(): number | null {
    const stat = readProc(this.child.pid, "stat");
    if (stat === null) return null;
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /**
   * Resident bytes (current and peak) and current anonymous bytes, which no file backs; null without /proc.
   */
  memory(): Memory | null {
    const status = readProc(this.child.pid, "status");
    if (status === null) return null;
    const kib = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return { now: kib("VmRSS") * 1024, peak: kib("VmHWM") * 1024, anonymous: kib("RssAnon") * 1024 };
  }
}

function readProc(pid: number | undefined, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return null;
  }
}

/** Total bytes of all files below a folder. */
export function diskBytes(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += statSync(join(entry.parentPath, entry.name)).size;
  }
  return sum;
}
