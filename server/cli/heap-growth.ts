// Sets how far V8 lets JavaScript heaps grow between full collections.
import { setFlagsFromString } from "node:v8";

/**
 * How much a heap may grow before the next full collection, in percent of its size after the last one. For
 * heaps as small as a server's, V8's default is 15 to 20.
 */
const GROWTH_PERCENT = 100;
/** Matches a flag by which the operator has already set the growth. */
const CHOSEN = /heap[-_]growing[-_]percent/;

/**
 * Lets each thread's heap double before a full collection. Besides its own time, a full collection costs
 * compilation: V8 drops the optimised code of functions that no object refers to at that moment, such as
 * those created per query, and must compile it again.
 */
export function growHeaps(): void {
  if (process.execArgv.some((flag) => CHOSEN.test(flag))) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
