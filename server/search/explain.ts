// Explains a hit's rank in words that a shop owner understands: how each word was found, what raised the
// document, and which rules affected it. Runs only for queries with "explain": true.
import {
  ALT_EXACT,
  ALT_INFIX,
  ALT_JOINED,
  ALT_PREFIX,
  ALT_SPLIT,
  ALT_STEM,
  ALT_SYNONYM,
  ALT_TYPO,
  TERM_STEM,
} from "../../engine-wasm/assembly/layout.js";
import type { ExplainedRow, ExplainedWord } from "../../engine-wasm/host/programs/explain-result.js";
import type { AlternativeKind, SearchProgram } from "../../engine-wasm/host/programs/search-program.js";
import type { ResolvedSchema } from "../catalog/schema/resolved-schema.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { settled, together, type Work } from "../ground/jobs/work.js";
import { POINT, SKU_GROUP, SKU_WHOLE } from "../question/curate/bonuses.js";
import type { QueryWord } from "../question/words/query-text.js";
import type { RankedRows } from "./matching/merge.js";
import type { QueryPlan } from "./matching/plan.js";
import { type Compared, similarityOf } from "./semantic/nearest.js";

export interface WordExplanation {
  readonly word: string;
  readonly match: "exact" | "stem" | "joined" | "split" | "synonym" | "prefix" | "infix" | "typo" | "none";
  readonly typos: number;
  readonly points: number;
  readonly found: readonly { readonly field: string; readonly term: string; readonly times: number }[];
}

export interface Explanation {
  readonly text: readonly string[];
  /** True if every word of the query was found in the document. */
  readonly full: boolean;
  readonly words: readonly WordExplanation[];
  readonly closeness_points: number;
  /**
   * Cosine between the document's vector and the query's vector. Null if they were not compared or the
   * document has no vector.
   */
  readonly similarity: number | null;
  readonly similarity_points: number;
  readonly bonuses: readonly { readonly reason: string; readonly points: number }[];
  /** Total weight of the boost rules that apply to the document. A total of 10 doubles the relevance. */
  readonly boost: number;
  readonly place: "pinned" | "normal" | "buried";
}

const MATCHES: Readonly<Record<AlternativeKind, WordExplanation["match"]>> = {
  [ALT_EXACT]: "exact",
  [ALT_STEM]: "stem",
  [ALT_JOINED]: "joined",
  [ALT_SPLIT]: "split",
  [ALT_SYNONYM]: "synonym",
  [ALT_PREFIX]: "prefix",
  [ALT_TYPO]: "typo",
  [ALT_INFIX]: "infix",
};

const HOW: Readonly<Record<WordExplanation["match"], string>> = {
  exact: "as written",
  stem: "in another form",
  joined: "joined to one word",
  split: "split in parts",
  synonym: "by a synonym",
  prefix: "as the beginning of a longer word",
  infix: "inside of a longer word",
  typo: "with a spelling corrected",
  none: "not found",
};

/** The program that ran, and the documents whose vectors were compared with the query's vector. */
interface Searched {
  readonly program: SearchProgram;
  readonly compared: Compared;
}

/** Returns the explanation of each row, or null if the row no longer exists. */
export function* explainRows(
  snapshot: IndexSnapshot,
  { program, compared }: Searched,
  { text, shopRules }: QueryPlan,
  ranked: RankedRows,
  schema: ResolvedSchema,
): Work<(Explanation | null)[]> {
  const causes = causesOf(program, shopRules);
  const shards = [...new Set(ranked.shards)];
  const rows = new Map<number, ExplainedRow | null>();
  yield* together(
    ...shards.map(function* (shard): Work<void> {
      const seqs = ranked.seqs.filter((_, i) => ranked.shards[i] === shard);
      const explained = yield* settled(snapshot.explain(shard, program, seqs));
      for (const [i, seq] of seqs.entries()) rows.set(seq, explained[i] ?? null);
    }),
  );
  return ranked.seqs.map((seq) => {
    const row = rows.get(seq) ?? null;
    if (row === null) return null;
    return explanation(row, program, text.words, schema, similarityOf(compared, seq), causes);
  });
}

function explanation(
  row: ExplainedRow,
  program: SearchProgram,
  queryWords: readonly QueryWord[],
  schema: ResolvedSchema,
  similarity: number | null,
  causes: Causes,
): Explanation {
  const words = row.words.map((word, i) => wordExplanation(word, i, program, queryWords, schema));
  const bonuses = bonusesOf(row);
  const parts = {
    full: words.every((word) => word.match !== "none"),
    words,
    closeness_points: rounded(row.closeness * program.proximityWeight),
    similarity: similarity === null ? null : rounded(similarity),
    similarity_points: rounded(row.points),
    bonuses,
    boost: row.boosts,
    place: row.pinned ? "pinned" : row.rowClass === 0n ? "buried" : "normal",
  } as const;
  return { text: sentences(parts, row.matched || row.hasWord, causes), ...parts };
}

/**
 * The sentence that says why a document is buried, and the beginning of the sentence that says by how much it
 * is boosted.
 */
interface Causes {
  readonly buried: string;
  readonly raised: string;
}

function causesOf({ rules }: SearchProgram, shopRules: number): Causes {
  const ofShop = { buried: "A ranking rule puts it last.", raised: "Ranking rules raise its relevance by" };
  if (rules.length === shopRules) return ofShop;
  const avoided = "word that the query does not want";
  const has = (wanted: SearchProgram["rules"][number]["effect"]): boolean =>
    rules.slice(0, shopRules).some(({ effect }) => effect === wanted);
  return {
    buried: `A ${has("bury") ? "ranking rule or a " : ""}${avoided} puts it last.`,
    raised: has("boost")
      ? `Ranking rules and the lack of a ${avoided} raise its relevance by`
      : `The lack of a ${avoided} raises its relevance by`,
  };
}

function wordExplanation(
  word: ExplainedWord,
  i: number,
  program: SearchProgram,
  queryWords: readonly QueryWord[],
  schema: ResolvedSchema,
): WordExplanation {
  const alternative = program.words[i]?.alternatives[word.alternative];
  return {
    word: queryWords[i]?.terms.join("") ?? "",
    match: alternative === undefined ? "none" : MATCHES[alternative.kind],
    typos: word.typos,
    points: rounded(word.score),
    found: word.parts.map(({ slot, term, frequency }) => ({
      field: schema.fieldOfSlot(slot)?.name ?? "",
      term: readable(term),
      times: frequency,
    })),
  };
}

function bonusesOf(row: ExplainedRow): { reason: string; points: number }[] {
  const bonuses = row.termBonuses.map(({ group, bonus }) => ({
    reason:
      group !== SKU_GROUP
        ? "the query names its brand"
        : bonus === SKU_WHOLE
          ? "the query is its part number"
          : "the query is a part of its part number",
    points: rounded(bonus / POINT),
  }));
  if (row.place === null) return bonuses;
  const reason = row.place === "whole" ? "a field is exactly the query" : "a field starts with the query";
  return [...bonuses, { reason, points: rounded(row.placeBonus / POINT) }];
}

function sentences(parts: Omit<Explanation, "text">, matched: boolean, causes: Causes): string[] {
  const told: string[] = [];
  if (parts.place === "pinned") told.push("A ranking rule pins it to the top.");
  if (parts.place === "buried") told.push(causes.buried);
  if (!matched) told.push("It does not match the words of the query.");
  for (const { word, match, found, points } of parts.words) {
    const fields = [...new Set(found.map(({ field }) => field))].join(", ");
    const spellings = [...new Set(found.map(({ term }) => term))].slice(0, 3).join(", ");
    told.push(
      match === "none"
        ? `"${word}" was not found.`
        : `"${word}" was found ${HOW[match]}${match === "exact" ? "" : ` (${spellings})`} in ${fields}: ${points} points.`,
    );
  }
  if (parts.closeness_points > 0)
    told.push(`The words stand close together: ${parts.closeness_points} points.`);
  if (parts.similarity_points > 0)
    told.push(
      `Its meaning is near to that of the query (${parts.similarity}): ${parts.similarity_points} points.`,
    );
  for (const { reason, points } of parts.bonuses) told.push(`Bonus, because ${reason}: ${points} points.`);
  if (parts.boost > 0) told.push(`${causes.raised} ${parts.boost * 10} %.`);
  return told;
}

/**
 * Strips a term's marker, which is a control character. In a stem, also strips the character after it, which
 * encodes the language.
 */
function readable(term: string): string {
  const first = term.charCodeAt(0);
  return first >= 0x20 ? term : term.slice(first === TERM_STEM ? 2 : 1);
}

function rounded(points: number): number {
  return Math.round(points * 1000) / 1000;
}
