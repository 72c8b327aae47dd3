// Runs one of the project's compiled programs in its own process, as people and scripts do, without the test
// run's SKEIN_ variables.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");

export interface ProgramRun {
  code: number | null;
  out: string;
  err: string;
}

export interface ProgramSurroundings {
  /** The program's working directory. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes for the program's standard input. */
  readonly input?: Uint8Array | undefined;
}

/** `file` is a path within dist. Resolves once the process has exited. */
export function runProgram(
  file: string,
  args: readonly string[],
  { folder, env = {}, input }: ProgramSurroundings,
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, "dist", file), ...args], {
      cwd: folder,
      env: { ...cleanEnvironment(), ...env },
    });
    const run: ProgramRun = { code: null, out: "", err: "" };
    child.stdout.on("data", (chunk) => (run.out += chunk));
    child.stderr.on("data", (chunk) => (run.err += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...run, code }));
    child.stdin.end(input);
  });
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SKEIN_")));
}
