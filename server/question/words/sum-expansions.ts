// Combines all shards' dictionary answers into the answer that a single shard with all documents would give.
import { INFIX_TERMS_LISTED, PREFIX_TERMS_LISTED } from "../../../engine-wasm/assembly/layout.js";
import type {
  ExpandResult,
  InfixExpansion,
  PrefixExpansion,
  SuspectExpansion,
  WordExpansion,
} from "../../../engine-wasm/host/programs/expand-result.js";
import { compareBytes } from "./typos/ranked-typos.js";

/** Combines the results, which must be answers to the same program. There must be at least one. */
export function sumExpansions(results: readonly ExpandResult[]): ExpandResult {
  const first = results[0] as ExpandResult;
  if (results.length === 1) return first;
  return {
    liveRows: results.reduce((sum, result) => sum + result.liveRows, 0),
    slots: first.slots.map((_, i) => ({
      totalLength: results.reduce((sum, result) => sum + (result.slots[i]?.totalLength ?? 0), 0),
      documents: results.reduce((sum, result) => sum + (result.slots[i]?.documents ?? 0), 0),
    })),
    words: first.words.map((_, i) => sumWords(results.map((result) => result.words[i] as WordExpansion))),
    suspects: first.suspects.map((_, i) =>
      sumSuspects(results.map((result) => result.suspects[i] as SuspectExpansion)),
    ),
  };
}

/**
 * Combines the shards' near terms for a suspect. If the shards did not all look them up, or not with the same
 * maximum number of typos, returns an empty answer.
 */
function sumSuspects(suspects: readonly SuspectExpansion[]): SuspectExpansion {
  const { maxTypos } = suspects[0] as SuspectExpansion;
  if (suspects.some((suspect) => suspect.maxTypos !== maxTypos)) return { maxTypos: 0, typos: [] };
  return { maxTypos, typos: sumTerms(suspects.map(({ typos }) => typos)) };
}

function sumWords(words: readonly WordExpansion[]): WordExpansion {
  const exacts = words.map((word) => word.exact).filter((exact) => exact !== null);
  const prefixes = words.map((word) => word.prefix).filter((prefix) => prefix !== null);
  const typos = words.map((word) => word.typos).filter((list) => list !== null);
  const infixes = words.map((word) => word.infixes).filter((list) => list !== null);
  return {
    exact: exacts.length === 0 ? null : addAll(exacts),
    prefix: prefixes.length === 0 ? null : sumPrefixes(prefixes),
    typos: typos.length === 0 ? null : sumTerms(typos),
    infixes: infixes.length === 0 ? null : sumInfixes(infixes),
  };
}

function sumPrefixes(prefixes: readonly PrefixExpansion[]): PrefixExpansion {
  const frequencies = addAll(prefixes.map((prefix) => prefix.frequencies));
  const union = new Set(prefixes.flatMap((prefix) => prefix.terms ?? []));
  if (union.size > PREFIX_TERMS_LISTED || prefixes.some((prefix) => prefix.terms === null)) {
    return { termCount: PREFIX_TERMS_LISTED + 1, frequencies, terms: null };
  }
  const terms = [...union].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { termCount: terms.length, frequencies, terms };
}

/**
 * Returns the shortest terms over all shards, with their counts. The counts are complete: a term that is
 * among the shortest over all shards is also among the shortest in each shard that has it, so each of these
 * shards has sent its count.
 */
function sumInfixes(lists: readonly (readonly InfixExpansion[])[]): InfixExpansion[] {
  return sumTerms(lists)
    .map((infix) => ({ infix, bytes: Buffer.byteLength(infix.term) }))
    .sort((a, b) => a.bytes - b.bytes || compareBytes(a.infix.term, b.infix.term))
    .slice(0, INFIX_TERMS_LISTED)
    .map(({ infix }) => infix);
}

/** Returns each term once, with its frequencies summed over all shards. */
function sumTerms<T extends InfixExpansion>(lists: readonly (readonly T[])[]): T[] {
  const byTerm = new Map<string, T>();
  for (const list of lists) {
    for (const one of list) {
      const known = byTerm.get(one.term);
      if (known === undefined) byTerm.set(one.term, one);
      else byTerm.set(one.term, { ...one, frequencies: addAll([known.frequencies, one.frequencies]) });
    }
  }
  return [...byTerm.values()];
}

/** Element-wise sum of lists of equal length. */
export function addAll(lists: readonly (readonly number[])[]): number[] {
  const first = lists[0] ?? [];
  return first.map((_, i) => lists.reduce((sum, list) => sum + (list[i] ?? 0), 0));
}
