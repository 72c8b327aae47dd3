// Applies settings that keep the server's memory use small. They must be in place when a process starts, so
// the process replaces itself once.

/**
 * glibc returns free memory at the top of its heap to the system once there is more than this many bytes.
 * Setting this threshold also turns off glibc's automatic increase of a second threshold (by default the same
 * number), above which each allocation gets a mapping of its own.
 */
const TRIM_BYTES = "131072";
const TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_";
/** Size (MiB) of each of the two semi-spaces in the main thread's young heap. */
const HALF_YOUNG_HEAP_MIB = 4;
/**
 * Matches the flag in NODE_OPTIONS. If the operator has set it there, we must not pass our own, because the
 * command line takes precedence.
 */
const SEMI_SPACE = /max[-_]semi[-_]space[-_]size/;

/** process.execve, which never returns. Node has it from 22.15 on, except on Windows. */
type Execve = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never;

/**
 * Restarts the running program under the same pid, with the settings in place. Returns if they are already in
 * place or cannot be set from here. In the latter case, whatever starts the process must set them.
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
