// Finds ranking opportunities: texts for which documents well below the top get many clicks, although fewer
// people look that far down. A rule that lifts these documents is tried on the index before it is proposed.
// According to the click model it must increase the clicks for the text, and it must not cost clicks for
// other texts that trigger it.
//
// The click model is the position-based model (Craswell et al. 2008): the probability that a hit is seen
// depends only on its position, and the probability that a seen hit is clicked depends only on the text and
// the document. The probability of seeing a position is estimated as its click-through rate in the whole log
// relative to the first position's, made non-increasing.
import type { Advice } from "../../catalog/records/recommendation.js";
import type { RuleDraft } from "../../catalog/records/rule.js";
import { confidenceOf, percent } from "../advice.js";
import { type Exposure, type LogDigest, PLACES, type TextDigest } from "../digest.js";
import type { Shop, ShopHit } from "../shop.js";
import { chanceOfAtLeast } from "../statistics.js";
import { wordsIn } from "../words.js";

const CLICKS_MIN = 10;
/** Number of positions that count as the top. Documents there need no lifting. */
const TOP_PLACES = 3;
/**
 * People who see a lifted document must click it this many times as often as they click the average top
 * document.
 */
const BETTER_TIMES = 2;
const LIFTED_CLICKS_MIN = 5;
/**
 * Maximum probability that a lifted document got its clicks by chance. It is low because thousands of
 * documents are tested.
 */
const CHANCE_MAX = 0.0001;
const LIFTED_MAX = 3;
/**
 * By the model, the rule must increase the text's clicks by at least GAIN_MIN, and must not reduce any other
 * text's clicks by more than LOSS_MAX (both are fractions).
 */
const GAIN_MIN = 0.1;
const LOSS_MAX = 0.02;
/** A text needs this many clicks before its loss can be estimated. */
const OTHER_CLICKS_MIN = 5;
const OTHERS_MAX = 20;
const CHECKED_MAX = 100;
/** Impressions added to each document as a prior, which lowers the click rates of rarely shown documents. */
const PRIOR_SHOWN = 5;
const WEIGHTS = [3, 5, 10];

/** Probability that people who see the document click it. */
type Appeal = (id: string) => number;

export async function rankingOpportunities(digest: LogDigest, shop: Shop): Promise<Advice[]> {
  const seen = seenByPlace(digest.clickRate);
  const texts = [...digest.texts.values()]
    .filter((text) => clicksOf(text) >= CLICKS_MIN && lifted(text, seen).length > 0)
    .sort((a, b) => b.searches - a.searches)
    .slice(0, CHECKED_MAX);
  const advice: Advice[] = [];
  for (const text of texts) {
    const found = await opportunity(text, digest, seen, shop);
    if (found !== null) advice.push(found);
  }
  return advice;
}

function clicksOf({ documents }: TextDigest): number {
  return [...documents.values()].reduce((sum, { clicksInAll }) => sum + clicksInAll, 0);
}

/**
 * Probability that a hit is seen, by position from 0: 1 for the first position, then non-increasing, and
 * never below 0.05.
 */
function seenByPlace(clickRate: readonly number[]): number[] {
  const seen: number[] = [];
  for (let place = 0; place < PLACES; place++) {
    const first = clickRate[0] || 1;
    const least = place === 0 ? 1 : (seen[place - 1] as number);
    seen.push(Math.max(0.05, Math.min(least, (clickRate[place] ?? 0) / first)));
  }
  seen[0] = 1;
  return seen;
}

/** How often the document was seen, according to the model. */
function timesSeen({ shown }: Exposure, seen: readonly number[]): number {
  return shown.reduce((sum, times, place) => sum + times * (seen[place] as number), 0);
}

function clicksSeen({ clicks }: Exposure): number {
  return clicks.reduce((sum, count) => sum + count, 0);
}

function meanPlace({ shown }: Exposure): number {
  const times = shown.reduce((sum, count) => sum + count, 0);
  return times === 0 ? PLACES : shown.reduce((sum, count, place) => sum + count * place, 0) / times;
}

/** Documents below the top that are clearly more attractive than the top documents, best first. */
function lifted(text: TextDigest, seen: readonly number[]): number[] {
  const all = [...text.documents].map(([number, exposure]) => {
    const [clicks, times] = [clicksSeen(exposure), timesSeen(exposure, seen) + PRIOR_SHOWN];
    return { number, place: meanPlace(exposure), clicks, times, rate: clicks / times };
  });
  const top = all.filter(({ place }) => place < TOP_PLACES);
  if (top.length === 0) return [];
  const usual = top.reduce((sum, { rate }) => sum + rate, 0) / top.length;
  return all
    .filter(({ place, clicks, times, rate }) => {
      if (place < TOP_PLACES || clicks < LIFTED_CLICKS_MIN || rate < usual * BETTER_TIMES) return false;
      if (chanceOfAtLeast(clicks, usual * times) > CHANCE_MAX) return false;
      return top.filter((other) => clicks > other.clicks).length * 2 >= top.length;
    })
    .sort((a, b) => b.rate - a.rate)
    .slice(0, LIFTED_MAX)
    .map(({ number }) => number);
}

async function opportunity(
  text: TextDigest,
  digest: LogDigest,
  seen: readonly number[],
  shop: Shop,
): Promise<Advice | null> {
  const query = text.text;
  const ids = await shop.documents(lifted(text, seen));
  const appeal = await appealOf(text, seen, shop);
  const now = await shop.search({ q: query });
  const before = clicksExpected(now.hits, appeal, seen);
  const isLow = (id: string): boolean => now.hits.findIndex((hit) => hit.id === id) >= TOP_PLACES;
  const low = ids.filter(isLow);
  if (low.length === 0 || before === 0) return null;
  for (const rule of rulesFor(query, low, now.hits)) {
    const { hits } = await shop.search({ q: query, rule });
    const gain = clicksExpected(hits, appeal, seen) / before - 1;
    if (gain < GAIN_MIN) continue;
    const loss = await lossOfOthers(query, rule, digest, seen, shop);
    if (loss === null) continue;
    const evidence = {
      clicks: clicksOf(text),
      documents: low.map((id) => ({ id, place: now.hits.findIndex((hit) => hit.id === id) + 1 })),
      expected_clicks_gain: Math.round(gain * 1000) / 1000,
      other_queries_checked: loss.checked,
    };
    return {
      type: "ranking_opportunity",
      title: `Show what people click for "${query}" further up`,
      description:
        `People who search for "${query}" mostly click ${low.length === 1 ? "a document that stands" : `${low.length} documents that stand`} below the third place. ` +
        `${describeRule(rule)} About ${percent(gain)} more clicks are expected. ` +
        (loss.checked === 0
          ? "No other search is changed by it."
          : `${loss.checked} other searches for which the rule fires were tried: none of them gets worse.`),
      confidence: confidenceOf(text.searches, gain >= GAIN_MIN * 3),
      search_count: text.searches,
      evidence,
      payload: { query, rule, evidence },
    };
  }
  return null;
}

function describeRule({ type, effect }: RuleDraft): string {
  return type === "pin"
    ? `The proposed rule puts ${effect.documents!.length === 1 ? "it" : "them"} first.`
    : `The proposed rule lifts all documents with ${effect.filter_by}.`;
}

async function appealOf({ documents }: TextDigest, seen: readonly number[], shop: Shop): Promise<Appeal> {
  const numbers = [...documents.keys()];
  const ids = await shop.documents(numbers);
  const rates = new Map(
    numbers.map((number, i) => {
      const exposure = documents.get(number) as Exposure;
      return [ids[i] as string, clicksSeen(exposure) / (timesSeen(exposure, seen) + PRIOR_SHOWN)];
    }),
  );
  return (id) => rates.get(id) ?? 0;
}

function clicksExpected(hits: readonly ShopHit[], appeal: Appeal, seen: readonly number[]): number {
  return hits.slice(0, PLACES).reduce((sum, { id }, place) => sum + appeal(id) * (seen[place] as number), 0);
}

/**
 * Candidate rules that lift the documents, most general first: boosts for facet values that the documents
 * share, then a rule that pins the documents.
 */
function rulesFor(query: string, ids: readonly string[], hits: readonly ShopHit[]): RuleDraft[] {
  const base = {
    conditions: { query_contains: [wordsIn(query).join(" ")] },
    priority: 0,
    enabled: true as const,
  };
  const boosts = commonValues(ids, hits).flatMap(({ field, value }) =>
    WEIGHTS.map(
      (weight): RuleDraft => ({
        ...base,
        name: `Coach: ${query}, ${field} ${value}`,
        type: "boost",
        effect: { filter_by: `${field}:=\`${value}\``, weight },
      }),
    ),
  );
  return [...boosts, { ...base, name: `Coach: ${query}`, type: "pin", effect: { documents: ids } }];
}

/**
 * Facet values that every one of the documents has and at most half of the top hits have. Empty if there is
 * only one document.
 */
function commonValues(
  ids: readonly string[],
  hits: readonly ShopHit[],
): { readonly field: string; readonly value: string }[] {
  const low = hits.filter(({ id }) => ids.includes(id));
  const above = hits.slice(0, TOP_PLACES);
  if (low.length < 2) return [];
  const [first] = low as [ShopHit];
  return Object.entries(first.facets)
    .flatMap(([field, values]) => values.map((value) => ({ field, value })))
    .filter(({ value }) => !value.includes("`"))
    .filter(({ field, value }) => {
      const has = (hit: ShopHit): boolean => hit.facets[field]?.includes(value) ?? false;
      return low.every(has) && above.filter(has).length * 2 <= above.length;
    });
}

/**
 * Tries the rule on other texts that trigger it. Returns null if any of these texts would lose too many
 * clicks.
 */
async function lossOfOthers(
  query: string,
  rule: RuleDraft,
  digest: LogDigest,
  seen: readonly number[],
  shop: Shop,
): Promise<{ readonly checked: number } | null> {
  const phrase = ` ${wordsIn(query).join(" ")} `;
  const others = [...digest.texts.values()]
    .filter(({ text }) => text !== query && ` ${wordsIn(text).join(" ")} `.includes(phrase))
    .filter((other) => clicksOf(other) >= OTHER_CLICKS_MIN)
    .sort((a, b) => b.searches - a.searches)
    .slice(0, OTHERS_MAX);
  for (const other of others) {
    const appeal = await appealOf(other, seen, shop);
    const [before, after] = await Promise.all([
      shop.search({ q: other.text }),
      shop.search({ q: other.text, rule }),
    ]);
    const expected = clicksExpected(before.hits, appeal, seen);
    if (clicksExpected(after.hits, appeal, seen) < expected * (1 - LOSS_MAX)) return null;
  }
  return { checked: others.length };
}
