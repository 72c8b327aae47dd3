// Sets how far V8 lets JavaScript heaps grow between two full collections.
import { setFlagsFromString } from "node:v8";

/** Percentage of the heap left by a collection. V8's default for heaps as small as a server's is 15 to 20. */
const GROWTH_PERCENT = 100;
/** Set by the operator. */
const CHOSEN = /heap[-_]growing[-_]percent/;

/**
 * Lets the heap of each thread double before a full collection. Such a collection costs more than its time:
 * V8 drops the optimised code of functions that no object refers to at that moment, such as those created per
 * query, and must recompile it.
 */
export function growHeaps(): void {
  if (process.execArgv.some((flag) => CHOSEN.test(flag))) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
