// Computes the number that the sort key "relevance" compares: a row's text match, bonus and boosts in one
// u64, laid out as in docs/FORMATS.md.

const FULL_MATCH: f64 = 2251799813685248; // 2^51
const TYPO_STEP: f64 = 140737488355328; // 2^47
const EXACT_BONUS: f64 = 70368744177664; // 2^46

const NEIGHBOUR_MATCH: f64 = 4503599627370496; // 2^52, above any text match
const BONUS_LINE: f64 = 4503599627370496; // 2^52
const BONUS_MOST: f64 = 70368744177663; // 2^46 - 1
/** How much a score of 1 adds to a text match. */
export const RELEVANCE_SCALE: f64 = 16777216; // 2^24
// If nothing is scored, boosts multiply this value instead of a text match.
const WITHOUT_WORDS: f64 = RELEVANCE_SCALE;
const RELEVANCE_MOST: f64 = 144115188075855872; // 2^57

const LINE_BIT: u64 = 1 << 63;
const FULL_BIT: u64 = 1 << 62;
const TYPO_SHIFT: u64 = 58;
const EXACT_BIT: u64 = 1 << 57;

/**
 * Returns the final key, which never falls as the score or the bonus rises. `boosts` is the sum of the row's
 * boost rule weights, added in program order. `browsing` is true if nothing is scored.
 */
export function finalKey(textMatch: f64, bonus: f64, boosts: f64, browsing: bool): u64 {
  let key: u64 = 0;
  let relevance = textMatch;
  if (textMatch >= FULL_MATCH) {
    const state = floor((textMatch - FULL_MATCH) / EXACT_BONUS); // (15 - typos) << 1 | exact bit
    relevance = textMatch - FULL_MATCH - state * EXACT_BONUS;
    const exact = (<u64>state & 1) != 0 || boosts > 0;
    key = FULL_BIT | ((<u64>state >> 1) << TYPO_SHIFT) | (exact ? EXACT_BIT : 0);
  }
  if (bonus >= BONUS_LINE) {
    key |= LINE_BIT;
    bonus -= BONUS_LINE;
  }
  relevance += min(bonus, BONUS_MOST);
  if (browsing) relevance += WITHOUT_WORDS;
  const boosted = floor((relevance * (10 + boosts)) / 10);
  return key + (boosted >= RELEVANCE_MOST ? EXACT_BIT - 1 : <u64>boosted);
}

/**
 * A row's final key in a query whose neighbours rank first. One bit separates neighbours from other rows, so
 * the other rows' boosted relevance has one bit less.
 */
export function finalKeyBelowNeighbours(textMatch: f64, bonus: f64, boosts: f64): u64 {
  if (textMatch >= NEIGHBOUR_MATCH) return LINE_BIT + finalKey(textMatch - NEIGHBOUR_MATCH, 0, boosts, false);
  const key = finalKey(textMatch, bonus, boosts, false);
  const relevance = key & (EXACT_BIT - 1);
  return ((key - relevance) >> 1) + min(relevance, (EXACT_BIT >> 1) - 1);
}

/** Text match of a neighbour with these points, if neighbours rank before all rows with words. */
export function textMatchOfNeighbour(points: f64): f64 {
  return NEIGHBOUR_MATCH + textMatchOf(points, false, 0, false);
}

/**
 * Text match of a row whose words have the total score `score`. `full` means that the row has every word.
 * `typos` is at most 15.
 */
export function textMatchOf(score: f64, full: bool, typos: u32, exact: bool): f64 {
  const scaled = floor(score * RELEVANCE_SCALE);
  const q = scaled > EXACT_BONUS - 1 ? EXACT_BONUS - 1 : scaled > 0 ? scaled : 0;
  if (!full) return q;
  return FULL_MATCH + <f64>(15 - typos) * TYPO_STEP + (exact ? EXACT_BONUS : 0) + q;
}
