// Keeps the code that V8 has compiled, so that the next start need not compile it again.
import * as nodeModule from "node:module";
import { builtFile } from "../../engine-wasm/host/runtime/built-files.js";

/** Not below the data directory, because a process that may write there must not be able to change code. */
const FOLDER = "compiled";

/** module.enableCompileCache, which Node has from 22.8 on. */
type EnableCompileCache = (folder: string) => unknown;

/**
 * Keeps compiled code in `dist/compiled`, or where NODE_COMPILE_CACHE says. Node writes it when the process
 * exits, and goes on without it if the folder cannot be written. Must be called before the modules whose code
 * is to be kept are imported.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: EnableCompileCache };
  if (enableCompileCache === undefined || process.env.NODE_COMPILE_CACHE !== undefined) return;
  const folder = builtFile(FOLDER);
  enableCompileCache(folder);
  process.env.NODE_COMPILE_CACHE = folder; // for the threads
}
