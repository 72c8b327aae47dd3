// Finds missing synonyms. People search for a word, find little, then search for another word instead and
// click. If significantly many people do so, they treat the two words as the same. Typing errors, other word
// forms, narrower or wider searches and changes of subject are not synonyms.
import type { Advice } from "../../catalog/records/recommendation.js";
import { confidenceOf } from "../advice.js";
import type { LogDigest, Step, TextDigest } from "../digest.js";
import type { Shop } from "../shop.js";
import { likelihoodRatio } from "../statistics.js";
import { areForms, areSpellings, differenceOf, wordsIn } from "../words.js";

/** Minimum number of people who replaced the first word with the second and then clicked. */
const PEOPLE_MIN = 3;
const WORDS_MAX = 3;
/** Thresholds if no document contains the first word (UNKNOWN) and if some do (KNOWN). */
const UNKNOWN = { ratioMin: 10.8, shareMin: 0.15 };
const KNOWN = { ratioMin: 20, shareMin: 0.25 };
/**
 * If documents contain the first word, its searches may have at most this fraction of the second word's
 * click-through rate.
 */
const CLICKED_PART_MAX = 0.5;
/**
 * The synonyms work both ways (multi_way) if people also go back from the second word to the first: at least
 * this fraction of the number who go forward.
 */
const BACK_PART_MIN = 0.25;
const CHECKED_MAX = 200;
const EXAMPLES = 5;

/** All steps in which people replaced the same words (`before`) with the same other words (`after`). */
interface Exchange {
  readonly before: string;
  readonly after: string;
  readonly steps: Step[];
  helped: number;
}

interface Candidate extends Exchange {
  readonly ratio: number;
  /**
   * Fraction of the people who searched for one of the first texts without a click and then searched again:
   * those who chose one of these steps and clicked.
   */
  readonly share: number;
  readonly searches: number;
}

export async function missingSynonyms(digest: LogDigest, shop: Shop): Promise<Advice[]> {
  const exchanges = exchangesIn(digest, shop.language);
  const candidates = candidatesIn(digest, exchanges).slice(0, CHECKED_MAX);
  const advice: Advice[] = [];
  const told = new Set<string>();
  for (const candidate of candidates) {
    const pair = [candidate.before, candidate.after].sort().join("\n");
    if (told.has(pair)) continue;
    const confirmed = await confirm(candidate, exchanges, digest, shop);
    if (confirmed === null) continue;
    told.add(pair);
    advice.push(confirmed);
  }
  return advice;
}

function exchangesIn({ steps, texts }: LogDigest, language: string | null): Map<string, Exchange> {
  const exchanges = new Map<string, Exchange>();
  for (const step of steps) {
    const [from, to] = [texts.get(step.from), texts.get(step.to)];
    if (step.helped === 0 || from === undefined || to === undefined) continue;
    const { before, after } = differenceOf(wordsIn(from.text), wordsIn(to.text));
    if (before.length === 0 || after.length === 0 || Math.max(before.length, after.length) > WORDS_MAX)
      continue;
    const [was, is] = [before.join(" "), after.join(" ")];
    if (areSpellings(was, is) || areForms(before, after, language) || isWider(before, after)) continue;
    if (isUnfinished(was) || is.startsWith(was) || isUnfinished(is)) continue;
    const name = nameOf(was, is);
    const exchange = exchanges.get(name) ?? { before: was, after: is, steps: [], helped: 0 };
    exchange.steps.push(step);
    exchange.helped += step.helped;
    exchanges.set(name, exchange);
  }
  return exchanges;
}

/** True for a single letter or digit, which is unfinished input. */
function isUnfinished(words: string): boolean {
  return /^[a-z\d]$/.test(words);
}

/** True if one list contains all words of the other, so the search became narrower or wider. */
function isWider(a: readonly string[], b: readonly string[]): boolean {
  return a.every((word) => b.includes(word)) || b.every((word) => a.includes(word));
}

/** Exchanges that pass the lower of the two sets of thresholds, most searched first. */
function candidatesIn({ steps, texts }: LogDigest, exchanges: ReadonlyMap<string, Exchange>): Candidate[] {
  const [begun, reached] = [new Map<number, number>(), new Map<number, number>()];
  let all = 0;
  for (const { from, to, people, helped } of steps) {
    begun.set(from, (begun.get(from) ?? 0) + people);
    reached.set(to, (reached.get(to) ?? 0) + helped);
    all += people;
  }
  const sum = (counts: ReadonlyMap<number, number>, numbers: Iterable<number>): number =>
    [...new Set(numbers)].reduce((total, number) => total + (counts.get(number) ?? 0), 0);
  return [...exchanges.values()]
    .filter(({ helped }) => helped >= PEOPLE_MIN)
    .map((exchange) => {
      const from = exchange.steps.map((step) => step.from);
      const first = sum(begun, from);
      const second = sum(
        reached,
        exchange.steps.map((step) => step.to),
      );
      return {
        ...exchange,
        ratio: likelihoodRatio(exchange.helped, first, second, all),
        share: exchange.helped / first,
        searches: [...new Set(from)].reduce((total, number) => total + (texts.get(number)?.searches ?? 0), 0),
      };
    })
    .filter(({ ratio, share }) => ratio >= UNKNOWN.ratioMin && share >= UNKNOWN.shareMin)
    .sort((a, b) => b.searches - a.searches || b.ratio - a.ratio);
}

/**
 * Returns the advice if the index confirms that the words can be synonyms and are not treated as synonyms
 * yet. Otherwise returns null.
 */
async function confirm(
  candidate: Candidate,
  exchanges: ReadonlyMap<string, Exchange>,
  digest: LogDigest,
  shop: Shop,
): Promise<Advice | null> {
  const { before, after, helped } = candidate;
  const target = await shop.search({ q: after, exact: true });
  if (target.found === 0) return null;
  const own = await shop.search({ q: before, exact: true });
  const bounds = own.found === 0 ? UNKNOWN : KNOWN;
  if (candidate.ratio < bounds.ratioMin || candidate.share < bounds.shareMin) return null;
  if (own.found > 0 && !helpsLess(candidate, digest)) return null;
  const now = await shop.search({ q: before });
  if (now.corrections.some((correction) => areSpellings(correction, after))) return null;
  const ids = new Set(now.hits.map(({ id }) => id));
  const missed = target.hits.filter(({ id }) => !ids.has(id)).length;
  if (now.found >= target.found && missed === 0) return null; // `before` already finds whatever `after` finds
  const back = exchanges.get(nameOf(after, before))?.helped ?? 0;
  const kind = own.found === 0 || back >= helped * BACK_PART_MIN ? "multi_way" : "one_way";
  return {
    type: "missing_synonym",
    title: `Let "${before}" also find "${after}"`,
    description:
      `${helped} people searched for "${before}" without a click, then searched for "${after}" and clicked a result. ` +
      (own.found === 0
        ? `None of your documents has the words "${before}"; ${target.found} have "${after}". With a synonym they are found at once.`
        : `With a synonym, a search for "${before}" shows what these people wanted.`),
    confidence: confidenceOf(candidate.searches, candidate.share >= 0.5 || own.found === 0),
    search_count: candidate.searches,
    evidence: {
      people: helped,
      share: Math.round(candidate.share * 1000) / 1000,
      likelihood_ratio: Math.round(candidate.ratio * 10) / 10,
      documents_with_user_term: own.found,
      documents_with_your_term: target.found,
      examples: candidate.steps
        .toSorted((a, b) => b.helped - a.helped)
        .slice(0, EXAMPLES)
        .map((step) => ({
          from: textOf(digest, step.from),
          to: textOf(digest, step.to),
          people: step.helped,
        })),
    },
    payload: { user_term: before, your_term: after, kind },
  };
}

/**
 * True if searches for the first word get far fewer clicks than searches for the second. Needed only if
 * documents contain the first word.
 */
function helpsLess({ steps }: Candidate, { texts }: LogDigest): boolean {
  const rate = (numbers: readonly number[]): number => {
    const all = [...new Set(numbers)].flatMap((number) => texts.get(number) ?? []);
    const sum = (count: (text: TextDigest) => number): number =>
      all.reduce((total, text) => total + count(text), 0);
    return (
      sum(({ clicked }) => clicked) /
      Math.max(
        1,
        sum(({ searches }) => searches),
      )
    );
  };
  const [before, after] = [rate(steps.map(({ from }) => from)), rate(steps.map(({ to }) => to))];
  return before <= after * CLICKED_PART_MAX;
}

function nameOf(before: string, after: string): string {
  return `${before}\n${after}`;
}

function textOf({ texts }: LogDigest, number: number): string {
  return texts.get(number)?.text ?? "";
}
