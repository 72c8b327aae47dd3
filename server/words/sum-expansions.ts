// The dictionary answers of all shards -> the answer that one shard with all documents would have given.
import { PREFIX_TERMS_LISTED } from "../../engine-wasm/assembly/layout.js";
import type {
  ExpandResult,
  PrefixExpansion,
  SuspectExpansion,
  TypoExpansion,
  WordExpansion,
} from "../../engine-wasm/host/programs/expand-result.js";

/** At least one result, all of one program. */
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

/** All or nothing: near terms of some shards, or of some within fewer typos, are no answer. */
function sumSuspects(suspects: readonly SuspectExpansion[]): SuspectExpansion {
  const { maxTypos } = suspects[0] as SuspectExpansion;
  if (suspects.some((suspect) => suspect.maxTypos !== maxTypos)) return { maxTypos: 0, typos: [] };
  return { maxTypos, typos: sumTypos(suspects.map(({ typos }) => typos)) };
}

function sumWords(words: readonly WordExpansion[]): WordExpansion {
  const exacts = words.map((word) => word.exact).filter((exact) => exact !== null);
  const prefixes = words.map((word) => word.prefix).filter((prefix) => prefix !== null);
  const typos = words.map((word) => word.typos).filter((list) => list !== null);
  return {
    exact: exacts.length === 0 ? null : addAll(exacts),
    prefix: prefixes.length === 0 ? null : sumPrefixes(prefixes),
    typos: typos.length === 0 ? null : sumTypos(typos),
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

function sumTypos(lists: readonly (readonly TypoExpansion[])[]): TypoExpansion[] {
  const byTerm = new Map<string, TypoExpansion>();
  for (const typos of lists) {
    for (const typo of typos) {
      const known = byTerm.get(typo.term);
      if (known === undefined) byTerm.set(typo.term, typo);
      else byTerm.set(typo.term, { ...typo, frequencies: addAll([known.frequencies, typo.frequencies]) });
    }
  }
  return [...byTerm.values()];
}

function addAll(lists: readonly (readonly number[])[]): number[] {
  const first = lists[0] ?? [];
  return first.map((_, i) => lists.reduce((sum, list) => sum + (list[i] ?? 0), 0));
}
