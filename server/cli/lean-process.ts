// The server's process with what keeps its memory small. Both settings count only from the start of a process, so it starts once more.

/** glibc gives back freed memory above so many bytes, and what is as large has pages of its own. */
const TRIM_BYTES = "131072";
const TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_";
/** Size of half the young heap of the main thread, in MiB. */
const HALF_YOUNG_HEAP_MIB = 4;
/** The operator has chosen it, and the command line would count for more. */
const SEMI_SPACE = /max[-_]semi[-_]space[-_]size/;

/** Node 22.15 and newer, except on Windows. It does not return. */
type Execve = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never;

/**
 * Goes on in the same process, by its number too, from the beginning. Returns when it has the settings already, and where they cannot be
 * made: then whoever starts the process gives it both.
 */
export function ensureLeanProcess(): void {
  const { execve } = process as { execve?: Execve };
  if (process.platform !== "linux" || execve === undefined || process.env[TRIM_VARIABLE] !== undefined)
    return;
  const isChosen = SEMI_SPACE.test(process.env.NODE_OPTIONS ?? "");
  const flags = isChosen ? [] : [`--max-semi-space-size=${HALF_YOUNG_HEAP_MIB}`];
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)];
  execve.call(process, process.execPath, args, { ...process.env, [TRIM_VARIABLE]: TRIM_BYTES });
}
