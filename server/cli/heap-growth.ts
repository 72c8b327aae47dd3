// How far V8 lets the heaps of JavaScript grow between two full collections.
import { setFlagsFromString } from "node:v8";

/** Of what a collection leaves. By itself V8 takes 15 to 20 for heaps as small as a server's. */
const GROWTH_PERCENT = 100;
/** The operator has chosen it. */
const CHOSEN = /heap[-_]growing[-_]percent/;

/**
 * From now on the heap of each thread may double before it is collected whole. Such a collection costs more than its time: V8 forgets the
 * optimised code of a function that no object refers to at that moment, as with those that every query makes anew, and compiles it again.
 */
export function growHeaps(): void {
  if (process.execArgv.some((flag) => CHOSEN.test(flag))) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
