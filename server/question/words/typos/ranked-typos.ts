// Orders the terms near a misspelt word by likelihood, and keeps the best for noisy-channel.ts to judge. Done
// once, when the shards' answers arrive, so that the cache contains only the best terms instead of hundreds.
// Pure functions; docs/ranking.md explains the reasons.
import type { ExpandProgram } from "../../../../engine-wasm/host/programs/expand-program.js";
import type {
  ExpandResult,
  SuspectExpansion,
  TypoExpansion,
  WordExpansion,
} from "../../../../engine-wasm/host/programs/expand-result.js";
import { FIXED_LIMITS } from "../../../ground/limits.js";
import { TypoCosts } from "./typo-cost.js";

/**
 * Edit cost that counts as one typo. Exceeding it by TYPO_COST_MARGIN is tolerated, so that even the most
 * expensive single edit counts as only one typo.
 */
const TYPO_COST = 100;
const TYPO_COST_MARGIN = 10;
/** Doubling a term's number of documents has the same effect as lowering its cost by this amount. */
const FREQUENCY_DISCOUNT = 5;
/** Maximum number of near terms for which edit costs are computed. */
const PRICED_MAX = 500;

/** A near term and the cost of its typos. */
export interface RankedTypo extends TypoExpansion {
  /** Number of typos, 1 to 4, derived from `edits` rather than from the dictionary's distance. */
  readonly typos: number;
  /** Cost of the edits (typo-cost.ts). */
  readonly edits: number;
}

/** What the dictionaries of all shards together contain for one word. */
export interface KnownWord extends Pick<WordExpansion, "exact" | "prefix" | "infixes"> {
  /** The best near terms, as chosen by `limitTypos`. Null if none were requested, empty if there are none. */
  readonly typos: readonly RankedTypo[] | null;
}

/**
 * The near terms of a suspect (see ExpandSuspect) within `maxTypos` typos. `maxTypos` is 0 if some shard did
 * not look them up.
 */
export interface KnownSuspect {
  readonly maxTypos: number;
  readonly typos: readonly RankedTypo[];
}

export interface KnownWords extends Pick<ExpandResult, "liveRows" | "slots"> {
  /** In the order of the program's words. */
  readonly words: readonly KnownWord[];
}

/** The answers for the words and for the suspects, both in program order. */
export interface ToldWords extends KnownWords {
  readonly suspects: readonly KnownSuspect[];
}

/** Ranks the near terms in the shards' combined answer and keeps at most `max` per word. */
export function rankTypos(result: ExpandResult, program: ExpandProgram, max: number): ToldWords {
  const words = result.words.map(({ exact, prefix, typos, infixes }, i): KnownWord => {
    const { term, typoPrefix } = program.words[i] as ExpandProgram["words"][number];
    return {
      exact,
      prefix,
      infixes,
      typos: typos === null ? null : limitTypos(term, typoPrefix, typos, max),
    };
  });
  const suspects = (program.suspects ?? []).map(({ term, typoPrefix }, i): KnownSuspect => {
    const { maxTypos, typos } = result.suspects[i] as SuspectExpansion;
    return { maxTypos, typos: limitTypos(term, typoPrefix, typos, max) };
  });
  return { liveRows: result.liveRows, slots: result.slots, words, suspects };
}

/** A near term with the values by which it is sorted. */
interface Candidate {
  readonly typo: TypoExpansion;
  readonly frequency: number;
  typos: number;
  edits: number;
  cost: number;
}

/** Returns at most `max` near terms: fewest typos first, then the likeliest, frequent before rare. */
export function limitTypos(
  word: string,
  unfinished: boolean,
  typos: readonly TypoExpansion[],
  max: number,
): RankedTypo[] {
  const costs = new TypoCosts(word, unfinished);
  const candidates = nearest(typos);
  for (const candidate of candidates) {
    const edits = costs.of(candidate.typo.term);
    const count = Math.ceil((edits - TYPO_COST_MARGIN) / TYPO_COST);
    const doublings = Math.floor(Math.log2(Math.max(1, candidate.frequency)));
    candidate.typos = Math.max(1, Math.min(FIXED_LIMITS.typosMax, count));
    candidate.edits = edits;
    candidate.cost = edits - FREQUENCY_DISCOUNT * doublings;
  }
  candidates.sort((a, b) => a.typos - b.typos || a.cost - b.cost || byFrequency(a, b));
  if (candidates.length > max) candidates.length = max;
  return candidates.map(({ typo: { term, distance, isPrefix, frequencies }, typos: count, edits }) => ({
    term,
    distance,
    isPrefix,
    frequencies,
    typos: count,
    edits,
  }));
}

/**
 * Returns the nearest terms by the dictionary's number of edits, at most PRICED_MAX of them. Of equally near
 * terms, prefers the most frequent.
 */
function nearest(typos: readonly TypoExpansion[]): Candidate[] {
  const candidates = typos.map((typo) => ({
    typo,
    frequency: largest(typo.frequencies),
    typos: 0,
    edits: 0,
    cost: 0,
  }));
  if (candidates.length <= PRICED_MAX) return candidates;
  const steps: Candidate[][] = [];
  for (const candidate of candidates) {
    const step = candidate.typo.distance * 2 + Number(candidate.typo.isPrefix);
    const list = steps[step];
    if (list === undefined) steps[step] = [candidate];
    else list.push(candidate);
  }
  const kept: Candidate[] = [];
  for (const step of steps) {
    if (step === undefined) continue;
    const room = PRICED_MAX - kept.length;
    if (room === 0) break;
    kept.push(...(step.length <= room ? step : step.sort(byFrequency).slice(0, room)));
  }
  return kept;
}

function byFrequency(a: Candidate, b: Candidate): number {
  return b.frequency - a.frequency || compareBytes(a.typo.term, b.typo.term);
}

/**
 * Compares by UTF-8 bytes, that is, in code point order. Far faster than encoding the texts and comparing the
 * bytes.
 */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = codePointRank(a.charCodeAt(i)) - codePointRank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/**
 * Returns a UTF-16 unit's sort rank. Surrogates come last because they encode code points above all single
 * units.
 */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Returns the frequency in the field where it is largest. */
export function largest(frequencies: readonly number[]): number {
  let most = 0;
  for (let i = 0; i < frequencies.length; i++) most = Math.max(most, frequencies[i] as number);
  return most;
}

/** Returns the element-wise sum; null lists count as zeros. */
export function sumLists(lists: readonly (readonly number[] | null)[]): number[] {
  const sums: number[] = [];
  for (const list of lists) {
    list?.forEach((value, i) => {
      sums[i] = (sums[i] ?? 0) + value;
    });
  }
  return sums;
}
