// Settings that keep the server's memory use small. They take effect only when a process starts, so the
// process replaces itself once.

/**
 * glibc returns free memory to the system if it exceeds this many bytes, and maps allocations of this size
 * separately.
 */
const TRIM_BYTES = "131072";
const TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_";
/** Half the size of the main thread's young heap, in MiB. */
const HALF_YOUNG_HEAP_MIB = 4;
/**
 * Matches the flag in NODE_OPTIONS, where the operator may have set it; our own command line would override
 * it.
 */
const SEMI_SPACE = /max[-_]semi[-_]space[-_]size/;

/** Available in Node 22.15 and newer, except on Windows. Does not return. */
type Execve = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never;

/**
 * Restarts the program in the same process, with the same pid. Returns if the settings are already in place
 * or cannot be set from here. In the latter case, whatever starts the process must set them.
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
