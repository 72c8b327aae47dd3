// Tests whether one ranking is better than another, and whether the difference is significant. Pure functions
// of the per-query scores under the two rankings; no servers or files.

import { Random } from "../random.js";
import { mean } from "./measures.js";

/** Each query's figure under both rankings, in the order of the set's file. */
export interface PairedSet {
  readonly set: string;
  readonly before: readonly number[];
  readonly after: readonly number[];
}

export interface Difference {
  /** Mean score under each ranking. */
  readonly before: number;
  readonly after: number;
  readonly difference: number;
}

export interface TestedDifference extends Difference {
  readonly queries: number;
  /** Probability that chance alone produces a difference at least as large, in either direction. */
  readonly p: number;
}

export interface Comparison {
  readonly sets: readonly (TestedDifference & { readonly set: string })[];
  /** Weights every set equally. */
  readonly meanOfSets: Difference;
  /** Weights every query equally, regardless of its set. */
  readonly allQueries: TestedDifference;
  /** The set with the lowest difference (after minus before). */
  readonly worst: { readonly set: string; readonly difference: number };
}

/**
 * Comparisons of all queries and of each half, so that a choice based on one half can be verified on the
 * other.
 */
export interface HalvedComparison {
  readonly whole: Comparison;
  /** The first, third, fifth and so on query of every set. */
  readonly odd: Comparison;
  readonly even: Comparison;
}

const ROUNDS = 10_000;
/** Rounding tolerance: sums that are equal in exact arithmetic may differ slightly in floating point. */
const ROUNDING = 1e-9;

/** Needs at least one set, and at least two queries in every set. */
export function compareHalved(sets: readonly PairedSet[], seed: number): HalvedComparison {
  return {
    whole: compare(sets, seed),
    odd: compare(sets.map(everySecond(0)), seed),
    even: compare(sets.map(everySecond(1)), seed),
  };
}

/** Needs at least one set, and at least one query in every set. */
export function compare(sets: readonly PairedSet[], seed: number): Comparison {
  const compared = sets.map(({ set, before, after }) => ({ set, ...tested(before, after, seed) }));
  return {
    sets: compared,
    meanOfSets: differenceOf(
      compared.map(({ before }) => before),
      compared.map(({ after }) => after),
    ),
    allQueries: tested(
      sets.flatMap(({ before }) => before),
      sets.flatMap(({ after }) => after),
      seed,
    ),
    worst: compared
      .map(({ set, difference }) => ({ set, difference }))
      .reduce((worst, one) => (one.difference < worst.difference ? one : worst)),
  };
}

/**
 * The two-sided p value of a paired randomisation test (Smucker, Allan, Carterette 2007, "A comparison of
 * statistical significance tests for information retrieval evaluation"). If the two rankings were equally
 * good, each query's difference could just as well have the opposite sign. So the signs are flipped at
 * random, and the result is the share of rounds whose sum is at least as far from zero as the observed sum.
 * The observed signs count as one round, so p is never 0.
 */
export function randomisationTest(differences: readonly number[], random: Random, rounds = ROUNDS): number {
  const changed = differences.filter((one) => one !== 0);
  const observed = Math.abs(changed.reduce((sum, one) => sum + one, 0)) - ROUNDING;
  let asLarge = 1;
  for (let round = 0; round < rounds; round++) {
    let sum = 0;
    for (const one of changed) sum += random.next() < 0.5 ? one : -one;
    if (Math.abs(sum) >= observed) asLarge++;
  }
  return asLarge / (rounds + 1);
}

function tested(before: readonly number[], after: readonly number[], seed: number): TestedDifference {
  const differences = after.map((figure, i) => figure - before[i]!);
  const p = randomisationTest(differences, new Random(seed));
  return { queries: after.length, ...differenceOf(before, after), p };
}

function differenceOf(before: readonly number[], after: readonly number[]): Difference {
  return { before: mean(before), after: mean(after), difference: mean(after) - mean(before) };
}

function everySecond(first: 0 | 1): (set: PairedSet) => PairedSet {
  const belongs = (_: number, i: number) => i % 2 === first;
  return ({ set, before, after }) => ({ set, before: before.filter(belongs), after: after.filter(belongs) });
}
