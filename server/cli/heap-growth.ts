// Sets how much V8 lets JavaScript heaps grow between full collections.
import { setFlagsFromString } from "node:v8";

/**
 * Heap growth in percent of the heap's size after a collection. V8's default for heaps as small as a server's
 * is 15 to 20.
 */
const GROWTH_PERCENT = 100;
/** Matches a flag by which the operator has already set the growth. */
const CHOSEN = /heap[-_]growing[-_]percent/;

/**
 * Lets each thread's heap double before a full collection. Such a collection costs more than its duration: V8
 * drops the optimised code of functions that no object refers to at that moment, such as those created per
 * query, and must recompile it.
 */
export function growHeaps(): void {
  if (process.execArgv.some((flag) => CHOSEN.test(flag))) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
