// Finds top performers, which are query texts with a much higher click-through rate than other texts that are
// searched about as often.
import type { Advice } from "../../catalog/records/recommendation.js";
import { confidenceOf, percent } from "../advice.js";
import type { LogDigest, TextDigest } from "../digest.js";
import type { Shop } from "../shop.js";
import { shareAtLeast } from "../statistics.js";

const SEARCHES_MIN = 20;
/**
 * A text's click-through rate, at its lower confidence bound, must be at least this many times the usual
 * rate.
 */
const TIMES_MIN = 1.3;
/**
 * Minimum number of peers to compare a text with. If it has fewer, it is compared with all texts: among ten
 * peers, five other top performers would already raise the median.
 */
const PEERS_MIN = 20;
const PERFORMERS_MAX = 20;
const DOCUMENTS_MAX = 5;

export async function topPerformers(
  digest: Pick<LogDigest, "hasClicks" | "texts">,
  shop: Pick<Shop, "documents">,
): Promise<Advice[]> {
  if (!digest.hasClicks) return [];
  const texts = [...digest.texts.values()].filter(
    ({ searches, noResults }) => searches >= SEARCHES_MIN && noResults < searches,
  );
  const usual = usualRates(texts);
  const found = texts
    .map((text) => ({ text, usual: usual(text), sure: shareAtLeast(text.clicked, text.searches) }))
    .filter(({ usual, sure }) => usual > 0 && sure >= usual * TIMES_MIN)
    .sort((a, b) => b.sure / b.usual - a.sure / a.usual || b.text.searches - a.text.searches)
    .slice(0, PERFORMERS_MAX);
  const advice: Advice[] = [];
  for (const { text, usual, sure } of found) {
    const clicks = [...text.documents].sort(([, a], [, b]) => b.clicksInAll - a.clicksInAll);
    const clicked = clicks.filter(([, { clicksInAll }]) => clicksInAll > 0).slice(0, DOCUMENTS_MAX);
    const documents = await shop.documents(clicked.map(([number]) => number));
    const rate = text.clicked / text.searches;
    advice.push({
      type: "top_performer",
      title: `"${text.text}" works very well`,
      description:
        `${percent(rate)} of the ${text.searches} searches for "${text.text}" lead to a click; for texts that are searched about as often it is ${percent(usual)}. ` +
        "What these people want is what they find: a good candidate for a campaign or for your start page.",
      confidence: confidenceOf(text.searches, sure >= usual * 2),
      search_count: text.searches,
      evidence: { clicked: text.clicked, usual_ctr: Math.round(usual * 1000) / 1000 },
      payload: { query: text.text, ctr: rate, document_ids: documents },
    });
  }
  return advice;
}

/**
 * Returns a function for the usual click-through rate of a text's peers: the median over the other texts with
 * about as many searches, that is, in the same power-of-two range.
 */
function usualRates(texts: readonly TextDigest[]): (text: TextDigest) => number {
  const rateOf = ({ clicked, searches }: TextDigest): number => clicked / searches;
  const doublingOf = ({ searches }: TextDigest): number => Math.floor(Math.log2(searches));
  const sortedRates = (some: readonly TextDigest[]): Float64Array => Float64Array.from(some, rateOf).sort();
  const all = sortedRates(texts);
  const groups = new Map<number, TextDigest[]>();
  for (const text of texts) {
    const group = groups.get(doublingOf(text));
    if (group === undefined) groups.set(doublingOf(text), [text]);
    else group.push(text);
  }
  const rates = new Map([...groups].map(([doubling, group]) => [doubling, sortedRates(group)]));
  return (text) => {
    const group = rates.get(doublingOf(text)) as Float64Array;
    return middleWithout(group.length > PEERS_MIN ? group : all, rateOf(text));
  };
}

/**
 * The median of the sorted values after removing one occurrence of `value`. Returns 0 if no value remains.
 */
function middleWithout(sorted: Float64Array, value: number): number {
  const middle = (sorted.length - 1) >> 1;
  return sorted[sorted.indexOf(value) <= middle ? middle + 1 : middle] ?? 0;
}
