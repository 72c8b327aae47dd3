// Finds a query's words as typed in the dictionaries: what is remembered of them, and what has to be looked
// up in the shards. Each word is looked up with its stems and splits, and with the words that documents may
// write for several of the query's words.
import type { ExpandSuspect } from "../../../engine-wasm/host/programs/expand-program.js";
import type { InfixExpansion } from "../../../engine-wasm/host/programs/expand-result.js";
import { run, together, type Work } from "../../ground/jobs/work.js";
import {
  type FoundForm,
  type FoundVariant,
  type FoundWord,
  foundWord,
  isEvidence,
  isMissing,
  knownFrequency,
} from "../../question/words/alternatives.js";
import type { AverageLengths } from "../../question/words/average-lengths.js";
import type { Dictionaries } from "../../question/words/dictionaries.js";
import { infixQuestion } from "../../question/words/infixes.js";
import type { QueryWord } from "../../question/words/query-text.js";
import { sharedForms } from "../../question/words/shared-forms.js";
import {
  type Form,
  type Join,
  joinedForms,
  looseSplitForms,
  splitForms,
  stemForm,
  type Variant,
} from "../../question/words/variants.js";
import { type SearchedFields, WordMemory } from "../../question/words/word-memory.js";
import type { QueryPlan } from "./plan.js";
import { WordTerms } from "./word-terms.js";

type Asked = Pick<Dictionaries, "lookUp" | "memory" | "memoryFor">;

export type FoundSplits = ReadonlyMap<number, readonly FoundForm[]>;

/** The words as typed, and what the dictionaries contain for them. Near terms have not been looked up yet. */
export interface Literal {
  readonly liveRows: number;
  readonly lengths: AverageLengths;
  readonly words: readonly FoundWord[];
  readonly shared: readonly FoundVariant[];
  /** For each word, the number of documents with it or with a form that is as good; see `knownFrequency`. */
  readonly known: readonly number[];
  /** Further splits (`looseSplitForms`) of the words that no document contains, by word number. */
  readonly splits: Promise<FoundSplits> | FoundSplits;
}

/** A word that is not remembered, and the forms to look up for it. */
interface OpenWord {
  readonly i: number;
  readonly word: QueryWord;
  readonly stem: readonly Form[];
  readonly splits: readonly Form[];
}

/** Words that may be joined, if it is not remembered whether documents do that. */
interface OpenJoin {
  readonly i: number;
  readonly join: Join;
  readonly forms: readonly Form[];
}

const NO_VARIANTS: readonly FoundVariant[] = [];
const NO_INFIXES: readonly InfixExpansion[] = [];
const NO_INFIXES_FOUND: ReadonlyMap<number, readonly InfixExpansion[]> = new Map();
export const NO_SPLITS: FoundSplits = new Map();

/** Returns the words if nothing about them has to be looked up, otherwise null. */
export function recalledWords(plan: QueryPlan, dictionaries: Asked): Literal | null {
  const { text, joins, synonyms, fields } = plan;
  const memory = synonyms.length === 0 ? dictionaries.memory(fields) : null;
  if (memory === null) return null;
  const words: FoundWord[] = [];
  for (const one of text.words) {
    const word = memory.word(one);
    if (word === null) return null;
    words.push(word);
  }
  const joined: (readonly FoundForm[])[] = [];
  for (const one of joins) {
    const join = memory.join(one);
    if (join === null) return null;
    joined.push(join);
  }
  memory.countHit();
  return literalOf(plan, dictionaries, memory, words, sharedForms(joins, joined, NO_VARIANTS));
}

/**
 * Looks up what is not remembered, and remembers it. A word's near terms are needed if it occurs in at most
 * `few` documents.
 */
export function* lookedUpWords(plan: QueryPlan, dictionaries: Asked, few: number): Work<Literal> {
  const { text, joins, synonyms, fields } = plan;
  const { slots, infixSlots, languages } = fields;
  const known = dictionaries.memory(fields);
  const words = text.words.map((word) => known?.word(word) ?? null);
  const joined = joins.map((join) => known?.join(join) ?? null);
  const openWords = text.words.flatMap((word, i): OpenWord[] => {
    if (words[i] !== null) return [];
    const stem = stemForm(word, languages);
    return [{ i, word, stem: stem === null ? [] : [stem], splits: splitForms(word) }];
  });
  const openJoins = joins.flatMap((join, i): OpenJoin[] =>
    joined[i] === null ? [{ i, join, forms: joinedForms(join) }] : [],
  );
  const asked = new WordTerms(
    slots,
    openWords.map(({ word }) => word),
    [
      ...openWords.flatMap(({ stem }) => stem),
      ...openJoins.flatMap(({ forms }) => forms),
      ...synonyms.map(({ form }) => form),
      ...openWords.flatMap(({ splits }) => splits),
    ],
  );
  const answers = dictionaries.lookUp(asked.program, () =>
    suspectsOf(asked, openWords, openJoins, synonyms, few),
  );
  const [answer, infixes] =
    infixSlots.length === 0
      ? [yield* answers, NO_INFIXES_FOUND]
      : yield* together(answers, lookedUpInfixes(fields, openWords, dictionaries));
  const memory = dictionaries.memoryFor(fields, answer) ?? new WordMemory(answer);
  for (const { i, word, stem, splits } of openWords) {
    const found = foundWord(
      word,
      {
        ...asked.word(word, answer, infixes.get(i) ?? NO_INFIXES),
        stem: asked.found(stem, answer)[0] ?? null,
        splits: asked.found(splits, answer),
      },
      { documents: answer.liveRows, languages },
    );
    memory.keepWord(word, found);
    words[i] = found;
  }
  for (const { i, join, forms } of openJoins) {
    const found = asked.found(forms, answer);
    memory.keepJoin(join, found);
    joined[i] = found;
  }
  const others = synonyms.flatMap(({ covers, form }) =>
    asked.found([form], answer).map((found) => ({ ...found, covers })),
  );
  const shared = sharedForms(joins, joined as (readonly FoundForm[])[], others);
  return literalOf(plan, dictionaries, memory, words as FoundWord[], shared);
}

function literalOf(
  plan: QueryPlan,
  dictionaries: Asked,
  { liveRows, lengths }: WordMemory,
  words: readonly FoundWord[],
  shared: readonly FoundVariant[],
): Literal {
  const known = words.map((word, i) => knownFrequency(word, i, shared));
  const splits = known.some(isMissing) ? run(lookedUpSplits(plan, dictionaries, known)) : NO_SPLITS;
  return { liveRows, lengths, words, shared, known, splits };
}

/**
 * Looks up longer terms that contain the words, in fields with `infix`. Asks no shard if none of the words
 * qualifies.
 */
function* lookedUpInfixes(
  { infixSlots }: SearchedFields,
  open: readonly OpenWord[],
  dictionaries: Asked,
): Work<ReadonlyMap<number, readonly InfixExpansion[]>> {
  const asked = open.flatMap(({ word, i }) => {
    const question = infixQuestion(word);
    return question === null ? [] : [{ i, question }];
  });
  if (asked.length === 0) return NO_INFIXES_FOUND;
  const words = asked.map(({ question }) => question);
  const answer = yield* dictionaries.lookUp({ slots: infixSlots, words });
  return new Map(asked.map(({ i }, at) => [i, answer.words[at]?.infixes ?? []]));
}

/**
 * The words whose near terms are needed if the words turn out to be rare over all shards. A shard in which
 * such a word is rare returns its near terms in the same reply, which saves a round trip: they are then in
 * the expansion cache.
 */
function suspectsOf(
  asked: WordTerms,
  openWords: readonly OpenWord[],
  openJoins: readonly OpenJoin[],
  synonyms: readonly Variant[],
  few: number,
): ExpandSuspect[] {
  const shared = [
    ...openJoins.flatMap(({ join: { covers }, forms }) => forms.map((form) => ({ covers, form }))),
    ...synonyms,
  ];
  return openWords
    .filter(({ word }) => word.typosMax > 0)
    .map(({ i, word, stem }) => {
      const evidence = shared.filter((one) => isEvidence(one, i)).map(({ form }) => form);
      return {
        term: word.terms[0] as string,
        typoPrefix: word.prefix,
        maxTypos: word.typosMax,
        few,
        witnesses: asked.numbersOf([word, ...stem, ...evidence]),
      };
    });
}

/**
 * Looks up `looseSplitForms` of the words that no document contains. Runs concurrently with the typo lookup,
 * because neither depends on the other.
 */
function* lookedUpSplits(
  { text, fields }: QueryPlan,
  dictionaries: Asked,
  known: readonly number[],
): Work<FoundSplits> {
  const loose = text.words.map((word, i) => (isMissing(known[i] as number) ? looseSplitForms(word) : []));
  const asked = new WordTerms(fields.slots, [], loose.flat());
  if (asked.program.words.length === 0) return NO_SPLITS;
  const answer = yield* dictionaries.lookUp(asked.program);
  return new Map(loose.map((forms, i) => [i, asked.found(forms, answer)]));
}
