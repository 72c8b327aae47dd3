// Runs a target: one case after another, starting from a seed, until a limit on time, cases or failures is
// reached. Reports one failure of each kind, after reducing its input.
import { Random } from "../../bench/random.js";
import type { Target } from "./target.js";

export interface Failure {
  readonly caseSeed: number;
  /** Number of the case within its run, from 1. */
  readonly caseNumber: number;
  readonly why: string;
  readonly input: Uint8Array;
}

export interface Outcome {
  readonly cases: number;
  readonly failures: readonly Failure[];
}

export interface Budget {
  readonly seed: number;
  readonly casesMax: number;
  readonly msMax: number;
  readonly failuresMax: number;
  /** Called before each case. */
  readonly onCase?: (caseSeed: number) => void;
  /** Called before each check of a smaller input. */
  readonly onShrink?: () => void;
}

const SHRINK_CHECKS_MAX = 1500;

/** The seed of a run's i-th case. */
function caseSeedOf(seed: number, i: number): number {
  return (Math.imul(seed, 0x9e3779b1) + Math.imul(i + 1, 0x85ebca6b)) | 0;
}

export async function fuzz(target: Target, budget: Budget): Promise<Outcome> {
  const failures: Failure[] = [];
  const kinds = new Set<string>();
  const end = performance.now() + budget.msMax;
  let cases = 0;
  for (
    ;
    cases < budget.casesMax && failures.length < budget.failuresMax && performance.now() < end;
    cases++
  ) {
    const caseSeed = caseSeedOf(budget.seed, cases);
    budget.onCase?.(caseSeed);
    const input = target.generate(new Random(caseSeed));
    const why = await problemOf(target, input);
    if (why === null || kinds.has(kindOf(why))) continue;
    kinds.add(kindOf(why));
    failures.push({ caseSeed, caseNumber: cases + 1, ...(await shrink(target, input, why, budget)) });
  }
  return { cases, failures };
}

/** The problem found with an input; null if there is none. */
export async function problemOf(target: Target, input: Uint8Array): Promise<string | null> {
  try {
    await target.check(input);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** Failures whose messages begin alike, apart from their digits, count as the same kind. */
function kindOf(why: string): string {
  return why.split("\n")[0]!.replace(/\d+/g, "0").slice(0, 60);
}

/** Removes pieces of the input for as long as it still fails in the same way. */
async function shrink(
  target: Target,
  input: Uint8Array,
  why: string,
  { onShrink }: Budget,
): Promise<{ input: Uint8Array; why: string }> {
  let best = { input, why };
  let checks = 0;
  for (let size = Math.ceil(input.length / 2); size >= 1 && checks < SHRINK_CHECKS_MAX; size >>= 1) {
    for (let at = 0; at < best.input.length && checks < SHRINK_CHECKS_MAX; ) {
      const smaller = Buffer.concat([best.input.subarray(0, at), best.input.subarray(at + size)]);
      checks++;
      onShrink?.();
      const problem = await problemOf(target, smaller);
      if (problem !== null && kindOf(problem) === kindOf(why)) best = { input: smaller, why: problem };
      else at += size;
    }
  }
  return best;
}
