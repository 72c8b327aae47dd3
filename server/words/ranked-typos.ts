// Orders the terms near a misspelt word by how likely they were meant, and keeps those that are searched. This is done
// once, when the shards' answers come. So the memory of a word holds this choice and not hundreds of near terms. Pure
// functions; docs/ranking.md has the reasons.
import type { ExpandProgram } from "../../engine-wasm/host/programs/expand-program.js";
import type {
  ExpandResult,
  SuspectExpansion,
  TypoExpansion,
  WordExpansion,
} from "../../engine-wasm/host/programs/expand-result.js";
import { FIXED_LIMITS } from "../limits.js";
import { TypoCosts } from "./typo-cost.js";

/** The cost that counts as one typo. The dearest single edit is still one typo. */
const TYPO_COST = 100;
const TYPO_COST_MARGIN = 10;
/** Twice the popular searches with a term make it as much likelier, up to so many searches. */
const SEARCHES_DISCOUNT = 5;
const SEARCHES_MAX = 256;
/** Twice the documents make a term as much likelier as a cost that is smaller by this. */
const FREQUENCY_DISCOUNT = 5;
/** How many of the nearest terms are priced. */
const PRICED_MAX = 500;

/** A typo with what it costs. */
export interface RankedTypo extends TypoExpansion {
  /** 1 to 4, from what the edits cost (typo-cost.ts). */
  readonly typos: number;
  /** The cost less a discount for frequency. It is smaller for a term that was more likely meant. */
  readonly cost: number;
}

/** The terms near one word. */
export interface WordTypos {
  /** The best terms by `limitTypos`. Empty only when no term is near. */
  readonly ranked: readonly RankedTypo[];
  /** How many documents have the most frequent whole term at one edit. 0 when there is no such term. */
  readonly neighbourFrequency: number;
}

/** What the dictionaries of all shards hold for one word. */
export interface KnownWord extends Pick<WordExpansion, "exact" | "prefix" | "infixes"> {
  readonly typos: WordTypos | null;
}

/** The terms near a suspect. `maxTypos` is 0 unless all shards looked them up in the same way. */
export interface KnownSuspect {
  readonly maxTypos: number;
  readonly typos: WordTypos;
}

export interface KnownWords extends Pick<ExpandResult, "liveRows" | "slots"> {
  /** In the order of the program's words. */
  readonly words: readonly KnownWord[];
}

/** The answers, with what the shards said about suspects in the order of the program. */
export interface ToldWords extends KnownWords {
  readonly suspects: readonly KnownSuspect[];
}

/** An answer with at most `max` typos for each word. */
export function rankTypos(result: ExpandResult, program: ExpandProgram, max: number): ToldWords {
  const words = result.words.map(({ exact, prefix, typos, infixes }, i): KnownWord => {
    const { term, typoPrefix } = program.words[i] as ExpandProgram["words"][number];
    return { exact, prefix, infixes, typos: typos === null ? null : wordTypos(term, typoPrefix, typos, max) };
  });
  const suspects = (program.suspects ?? []).map(({ term, typoPrefix }, i): KnownSuspect => {
    const { maxTypos, typos } = result.suspects[i] as SuspectExpansion;
    return { maxTypos, typos: wordTypos(term, typoPrefix, typos, max) };
  });
  return { liveRows: result.liveRows, slots: result.slots, words, suspects };
}

function wordTypos(
  word: string,
  unfinished: boolean,
  typos: readonly TypoExpansion[],
  max: number,
): WordTypos {
  return {
    ranked: limitTypos(word, unfinished, typos, max),
    neighbourFrequency: neighbourFrequency(typos),
  };
}

function neighbourFrequency(typos: readonly TypoExpansion[]): number {
  let most = 0;
  for (const { distance, isPrefix, frequencies } of typos) {
    if (distance === 1 && !isPrefix) most = Math.max(most, largest(frequencies));
  }
  return most;
}

/** A candidate with the number it is sorted by. */
interface Candidate {
  readonly typo: TypoExpansion;
  readonly frequency: number;
  typos: number;
  cost: number;
}

/** The typos worth searching: fewest first, then the likeliest, frequent before rare. */
export function limitTypos(
  word: string,
  unfinished: boolean,
  typos: readonly TypoExpansion[],
  max: number,
): RankedTypo[] {
  const costs = new TypoCosts(word, unfinished);
  const candidates = nearest(typos);
  for (const candidate of candidates) {
    const cost = costs.of(candidate.typo.term);
    const count = Math.ceil((cost - TYPO_COST_MARGIN) / TYPO_COST);
    const doublings = Math.floor(Math.log2(Math.max(1, candidate.frequency)));
    candidate.typos = Math.max(1, Math.min(FIXED_LIMITS.typosMax, count));
    candidate.cost = cost - FREQUENCY_DISCOUNT * doublings;
  }
  candidates.sort((a, b) => a.typos - b.typos || a.cost - b.cost || byFrequency(a, b));
  if (candidates.length > max) candidates.length = max;
  return candidates.map(({ typo: { term, distance, isPrefix, frequencies }, typos: count, cost }) => ({
    term,
    distance,
    isPrefix,
    frequencies,
    typos: count,
    cost,
  }));
}

/** The same typos, with those that people search for as much likelier. */
export function preferSearched(
  typos: readonly RankedTypo[],
  searchesOf: (term: string) => number,
): readonly RankedTypo[] {
  const searches = typos.map(({ term }) => Math.min(searchesOf(term), SEARCHES_MAX));
  if (searches.every((count) => count === 0)) return typos;
  return typos
    .map((typo, i) => {
      const doublings = Math.floor(Math.log2(1 + (searches[i] as number)));
      return { ...typo, cost: typo.cost - SEARCHES_DISCOUNT * doublings };
    })
    .sort((a, b) => a.typos - b.typos || a.cost - b.cost);
}

/** The nearest terms by whole edits, which the dictionary has counted. Only these are priced. */
function nearest(typos: readonly TypoExpansion[]): Candidate[] {
  const candidates = typos.map((typo) => ({ typo, frequency: largest(typo.frequencies), typos: 0, cost: 0 }));
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

/** Compares by UTF-8 bytes, which is the order of the code points. Far faster than making buffers. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = codePointRank(a.charCodeAt(i)) - codePointRank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The rank of a UTF-16 unit. Surrogates come last because they stand for code points beyond all other units. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The frequency in the field that has most documents. */
export function largest(frequencies: readonly number[]): number {
  let most = 0;
  for (let i = 0; i < frequencies.length; i++) most = Math.max(most, frequencies[i] as number);
  return most;
}

/** Element-wise sum; null lists count as zeros. */
export function sumLists(lists: readonly (readonly number[] | null)[]): number[] {
  const sums: number[] = [];
  for (const list of lists) {
    list?.forEach((value, i) => {
      sums[i] = (sums[i] ?? 0) + value;
    });
  }
  return sums;
}
