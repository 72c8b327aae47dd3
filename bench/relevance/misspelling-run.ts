// Sends every misspelling to a server as a query and checks whether the right word ranks first. Each document
// in the index is a single word, so only the spelling matters. Default settings: two typos, prefixes on.

import type { ApiClient } from "../../server/cli/api.js";
import { Random } from "../random.js";
import { editDistance } from "./edit-distance.js";
import { type Misspelling, ordinaryWords, PAIR_FILES, readPairs, rightWords } from "./misspelling-pairs.js";
import { RankedIndex } from "./ranked-index.js";

const DISTANCE_MAX = 2;
const ORDINARY_WORDS = 60_000;
const DEPTH = 50;
const FIRST_FEW = 3;
const EXAMPLES_MAX = 12;

export interface MisspellingShare {
  readonly asked: number;
  readonly first: number;
  readonly firstFew: number;
}

export interface MisspellingResult {
  readonly documents: number;
  readonly files: readonly (MisspellingShare & {
    readonly file: string;
    readonly pairs: number;
    readonly beyond: number;
    readonly equal: number;
    /** Misspellings that are themselves indexed words. They are excluded from all other figures. */
    readonly alsoWords: MisspellingShare;
  })[];
  /** Failures from all files, without duplicates, grouped by the reason why the right word was not first. */
  readonly failures: readonly {
    readonly kind: string;
    readonly count: number;
    readonly examples: string[];
  }[];
}

export async function runMisspellings(
  client: ApiClient,
  data: string,
  settings: Readonly<Record<string, unknown>>,
  seed: number,
): Promise<MisspellingResult> {
  const right = new Set(PAIR_FILES.flatMap((file) => rightWords(data, file)));
  const words = shuffled([...right, ...(await ordinaryWords(data, ORDINARY_WORDS, right))], seed);
  const indexed = new Set(words);
  const index = await RankedIndex.fill(client, "words", ["word"], settings, wordDocuments(words));
  const failures = new Map<string, Set<string>>();
  const files: MisspellingResult["files"][number][] = [];
  for (const file of PAIR_FILES) {
    const { within, pairs, beyond, equal } = readPairs(data, file, DISTANCE_MAX);
    const plain = within.filter(({ wrong }) => !indexed.has(wrong));
    const alsoWords = within.filter(({ wrong }) => indexed.has(wrong));
    const rank = async (asked: readonly Misspelling[]) => {
      const texts = asked.map(({ wrong }) => wrong);
      const rankings = await index.rankAll(texts, { mode: "keyword", depth: DEPTH });
      return rankings.map((ids) => ids.map((id) => words[Number(id)]!));
    };
    const rankings = await rank(plain);
    plain.forEach((misspelling, i) => {
      const kind = failureKind(misspelling, rankings[i]!);
      if (kind === null) return;
      const line = `${misspelling.wrong}: ${misspelling.right.join("|")}, got ${rankings[i]!.slice(0, 3).join(", ") || "nothing"}`;
      failures.set(kind, (failures.get(kind) ?? new Set()).add(line));
    });
    files.push({
      file,
      pairs,
      beyond,
      equal,
      ...share(plain, rankings),
      alsoWords: share(alsoWords, await rank(alsoWords)),
    });
  }
  await index.drop();
  return {
    documents: words.length,
    files,
    failures: [...failures]
      .map(([kind, lines]) => ({ kind, count: lines.size, examples: [...lines].slice(0, EXAMPLES_MAX) }))
      .sort((a, b) => b.count - a.count),
  };
}

/**
 * Shuffles the words. The newest document wins a tie, and insertion order must not favour any kind of word.
 */
function shuffled(words: readonly string[], seed: number): string[] {
  const random = new Random(seed);
  const list = [...words];
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

function share(asked: readonly Misspelling[], rankings: readonly (readonly string[])[]): MisspellingShare {
  const within = (depth: number) =>
    asked.filter(({ right }, i) => rankings[i]!.slice(0, depth).some((word) => right.includes(word))).length;
  return { asked: asked.length, first: within(1), firstFew: within(FIRST_FEW) };
}

/** Returns why no right word is first, or null if one is. */
function failureKind({ wrong, right }: Misspelling, ranking: readonly string[]): string | null {
  const first = ranking[0];
  if (first !== undefined && right.includes(first)) return null;
  const distance = Math.min(...right.map((word) => editDistance(wrong, word)));
  const edits = distance === 1 ? "1 edit" : `${distance} edits`;
  if (first === undefined) return `nothing found, ${edits}, ${lengthClass(wrong)}`;
  const prefixes = Array.from({ length: first.length + 1 }, (_, length) => first.slice(0, length));
  const whole = editDistance(wrong, first);
  if (whole > distance) {
    const nearest = Math.min(...prefixes.map((prefix) => editDistance(wrong, prefix)));
    if (nearest < whole)
      return `a longer word whose beginning is ${nearest === distance ? "as" : nearest < distance ? "more" : "less"} near came first, ${edits}`;
    return `a farther word came first, ${edits}, ${lengthClass(wrong)}`;
  }
  if (whole < distance) return `a nearer word came first, ${edits}`;
  return `another word as near came first, ${edits}`;
}

function lengthClass(word: string): string {
  return word.length < 4 ? "below 4 letters" : word.length < 8 ? "4 to 7 letters" : "8 letters or more";
}

async function* wordDocuments(words: readonly string[]): AsyncGenerator<Record<string, unknown>> {
  for (const [id, word] of words.entries()) yield { id: String(id), word };
}
