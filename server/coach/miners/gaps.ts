// Finds gaps in the catalogue. A gap is a frequent search without useful results, whose users find nothing
// with other searches either. Texts that differ only in word forms or word order count as one gap.
import type { Advice } from "../../catalog/records/recommendation.js";
import { confidenceOf, percent } from "../advice.js";
import type { LogDigest, Step, TextDigest } from "../digest.js";
import type { Shop } from "../shop.js";
import { shareAtLeast } from "../statistics.js";
import { areSpellings, stemsOf, wordsIn } from "../words.js";

const SEARCHES_MIN = 5;
const PEOPLE_MIN = 3;
/** A group of texts counts as finding nothing if at least this fraction of its searches had no results. */
const EMPTY_PART_MIN = 0.8;
/**
 * There is no gap if one particular other search helped many of the people: they merely use another word.
 * Many means at least RESCUED_PEOPLE_MIN, and more than this fraction of the group's number of searches.
 */
const RESCUED_PART_MAX = 0.2;
const RESCUED_PEOPLE_MIN = 3;
/**
 * A group whose searches all had results still counts as a gap if it has at least UNCLICKED_SEARCHES_MIN
 * searches and its click-through rate, at its upper confidence bound, is at most this fraction of the average
 * rate.
 */
const UNCLICKED_SEARCHES_MIN = 50;
const UNCLICKED_RATE_PART = 0.25;
const CHECKED_MAX = 200;
const NEAREST_MAX = 5;
const EXAMPLES = 5;

interface Group {
  /** The most searched text comes first. */
  readonly texts: TextDigest[];
  searches: number;
  noResults: number;
  clicked: number;
  rescued: number;
  people: number;
}

/** Finds gaps. Skips texts that contain a word or phrase in `explained`, because other advice covers them. */
export async function catalogGaps(
  digest: LogDigest,
  shop: Shop,
  explained: ReadonlySet<string>,
): Promise<Advice[]> {
  const searched = new SearchedWords(digest);
  const stepsFrom = stepsByStart(digest);
  const clickRate = digest.searches === 0 ? 0 : digest.clicked / digest.searches;
  const isGap = (group: Group): boolean =>
    isEmpty(group) || (digest.hasClicks && isUnclicked(group, clickRate));
  const groups = [...groupsOf(digest, shop.language).values()]
    .filter(({ searches, people }) => searches >= SEARCHES_MIN && people >= PEOPLE_MIN)
    .filter((group) => isGap(group) && rescuedBySame(group, stepsFrom) / group.searches <= RESCUED_PART_MAX)
    .filter(({ texts }) => !texts.some(({ text }) => isAbout(text, explained)))
    .sort((a, b) => b.searches - a.searches)
    .slice(0, CHECKED_MAX);
  const advice: Advice[] = [];
  for (const group of groups) {
    const confirmed = await confirm(group, searched, shop);
    if (confirmed !== null) advice.push(confirmed);
  }
  return advice;
}

/**
 * Number of people who searched for one of the group's texts and were then helped by one particular other
 * search: the one that helped most people. Returns 0 if there are fewer than RESCUED_PEOPLE_MIN.
 */
function rescuedBySame({ texts }: Group, stepsFrom: ReadonlyMap<number, readonly Step[]>): number {
  const own = new Set(texts.map(({ number }) => number));
  const helped = new Map<number, number>();
  for (const number of own)
    for (const step of stepsFrom.get(number) ?? [])
      if (!own.has(step.to)) helped.set(step.to, (helped.get(step.to) ?? 0) + step.helped);
  const most = Math.max(0, ...helped.values());
  return most >= RESCUED_PEOPLE_MIN ? most : 0;
}

function stepsByStart({ steps }: LogDigest): Map<number, Step[]> {
  const byStart = new Map<number, Step[]>();
  for (const step of steps) {
    const list = byStart.get(step.from);
    if (list === undefined) byStart.set(step.from, [step]);
    else list.push(step);
  }
  return byStart;
}

function isEmpty({ searches, noResults }: Group): boolean {
  return noResults / searches >= EMPTY_PART_MIN;
}

function isUnclicked({ searches, noResults, clicked }: Group, clickRate: number): boolean {
  if (searches < UNCLICKED_SEARCHES_MIN || noResults > 0) return false;
  const rateAtMost = 1 - shareAtLeast(searches - clicked, searches);
  return rateAtMost <= clickRate * UNCLICKED_RATE_PART;
}

function isAbout(text: string, words: ReadonlySet<string>): boolean {
  const padded = ` ${wordsIn(text).join(" ")} `;
  return [...words].some((word) => padded.includes(` ${word} `));
}

function groupsOf({ texts }: LogDigest, language: string | null): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const text of [...texts.values()].sort((a, b) => b.searches - a.searches)) {
    const name = [...new Set(stemsOf(wordsIn(text.text), language))].sort().join(" ");
    if (name === "") continue;
    const group = groups.get(name) ?? {
      texts: [],
      searches: 0,
      noResults: 0,
      clicked: 0,
      rescued: 0,
      people: 0,
    };
    group.texts.push(text);
    group.searches += text.searches;
    group.noResults += text.noResults;
    group.clicked += text.clicked;
    group.rescued += text.rescued;
    group.people += text.people;
    groups.set(name, group);
  }
  return groups;
}

/**
 * Turns the group into advice. Returns null if its searches used to find nothing but the index now has
 * results or a spelling correction.
 */
async function confirm(group: Group, searched: SearchedWords, shop: Shop): Promise<Advice | null> {
  const { searches, people, texts, rescued } = group;
  const query = (texts[0] as TextDigest).text;
  const now = await shop.search({ q: query });
  const empty = isEmpty(group);
  if (empty && (now.found > 0 || now.corrections.length > 0)) return null;
  const nearest = await nearestTerms(query, searched, shop);
  return {
    type: "catalog_gap",
    title: empty ? `Nothing is found for "${query}"` : `Nobody clicks what is shown for "${query}"`,
    description:
      `"${query}" was searched ${searches} times by ${people} people${texts.length > 1 ? `, in ${texts.length} ways of writing it` : ""}. ` +
      (empty
        ? `No document matches, and ${rescued === 0 ? "nobody" : `only ${percent(rescued / searches)}`} went on to click something else. `
        : `${now.found} documents match, but they are hardly ever clicked. `) +
      (nearest.length === 0
        ? "Your catalogue has nothing near it."
        : `The nearest that your catalogue has: ${nearest.join(", ")}.`),
    confidence: confidenceOf(searches, empty && rescued / searches < 0.1),
    search_count: searches,
    evidence: {
      people,
      no_results: group.noResults,
      clicked: group.clicked,
      rescued,
      texts: texts.slice(0, EXAMPLES).map((text) => ({ query: text.text, searches: text.searches })),
    },
    payload: { query, search_count: searches, nearest_terms: nearest },
  };
}

/**
 * Suggests terms close to the query: those of its words that the index has, corrections for its other words,
 * and similar texts whose searches had results.
 */
async function nearestTerms(query: string, searched: SearchedWords, shop: Shop): Promise<string[]> {
  const nearest = new Set<string>();
  const missing: string[] = [];
  for (const word of wordsIn(query)) {
    const { found } = await shop.search({ q: word, exact: true });
    if (found > 0) nearest.add(word);
    else missing.push(word);
  }
  for (const word of missing) {
    const { corrections } = await shop.search({ q: word });
    for (const correction of corrections) nearest.add(correction);
  }
  for (const text of searched.textsNear(missing)) {
    if (nearest.size >= NEAREST_MAX) break;
    nearest.add(text);
  }
  return [...nearest].slice(0, NEAREST_MAX);
}

/** The texts whose latest searches had results, indexed by word. */
class SearchedWords {
  /** Ordered by number of searches, highest first. */
  readonly #texts: readonly string[];
  /** For each word, the indexes in `#texts` of the texts that contain it. */
  readonly #places = new Map<string, number[]>();

  constructor({ texts }: LogDigest) {
    this.#texts = [...texts.values()]
      .filter(({ found }) => found > 0)
      .sort((a, b) => b.searches - a.searches)
      .map(({ text }) => text);
    for (const [place, text] of this.#texts.entries())
      for (const word of wordsIn(text)) {
        const places = this.#places.get(word);
        if (places === undefined) this.#places.set(word, [place]);
        else places.push(place);
      }
  }

  /**
   * Returns texts that contain a different spelling of any of the words, most searched first. The word itself
   * does not count as a spelling.
   */
  textsNear(words: readonly string[]): string[] {
    const places = [...this.#places].flatMap(([other, found]) =>
      words.some((word) => word !== other && areSpellings(word, other)) ? found : [],
    );
    return places.sort((a, b) => a - b).map((place) => this.#texts[place] as string);
  }
}
