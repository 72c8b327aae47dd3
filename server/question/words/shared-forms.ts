// Collects the found forms that stand for several of a query's words: the words joined, the joined words
// split in other places, part numbers and synonyms. Pure functions.
import { ALT_SPLIT } from "../../../engine-wasm/assembly/layout.js";
import type { FoundForm, FoundVariant } from "./alternatives.js";
import type { Join } from "./variants.js";

const NONE: readonly FoundVariant[] = [];

/**
 * `joined` are the found forms of the joins, in the order of the joins. Returns the joined words first, then
 * their splits, part numbers, and the synonyms, each form once.
 */
export function sharedForms(
  joins: readonly Join[],
  joined: readonly (readonly FoundForm[])[],
  synonyms: readonly FoundVariant[],
): readonly FoundVariant[] {
  if (joined.every(isEmpty)) return synonyms.length === 0 ? NONE : synonyms;
  const words: FoundVariant[] = [];
  const splits: FoundVariant[] = [];
  const skus: FoundVariant[] = [];
  for (let i = 0; i < joins.length; i++) {
    const { covers, isSku } = joins[i]!;
    for (const { form, frequency } of joined[i]!) {
      const list = form.kind === ALT_SPLIT ? splits : isSku ? skus : words;
      list.push({ covers, form, frequency });
    }
  }
  if (words.length === 1 && splits.length + skus.length + synonyms.length === 0) return words;
  const ordered = [...words, ...splits, ...skus];
  return [...new Map(ordered.map((one) => [keyOf(one), one])).values(), ...synonyms];
}

function keyOf({ covers, form }: FoundVariant): string {
  return `${covers.join()} ${form.prefix} ${form.terms.join(" ")}`;
}

function isEmpty(list: readonly unknown[]): boolean {
  return list.length === 0;
}
