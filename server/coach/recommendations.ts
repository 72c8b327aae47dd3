// Changes and reads the coach's recommendations in the catalog: saves an analysis's advice, and finds and
// lists recommendations. Pure functions.

import { ownedBy } from "../catalog/owned-records.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Advice, Recommendation, RecommendationStatus } from "../catalog/records/recommendation.js";
import type { CatalogState, Command } from "../catalog/state.js";
import { SkeinError } from "../ground/errors.js";
import { DAY_MS } from "../query-log/rows/time.js";
import { areSameForm, areSpellings, type WordForm, wordForm, wordsIn } from "./words.js";

/**
 * After a recommendation has been applied or dismissed, new advice on its subject is discarded for this long.
 * A pending recommendation is deleted if no analysis has found it again for this long.
 */
const REST_MS = 30 * DAY_MS;
/**
 * Maximum number of recommendations kept per index. Beyond it, the oldest applied or dismissed ones are
 * deleted, but never pending ones.
 */
const KEPT_MAX = 1_000;

export interface SavedAdvice {
  readonly commands: readonly Command[];
  readonly saved: readonly Recommendation[];
}

/**
 * Saves an analysis's advice. Advice with the same subject as a pending recommendation renews that
 * recommendation. Advice with the same subject as a recently applied or dismissed one is skipped.
 */
export function saveAdvice(
  state: CatalogState,
  { uid }: IndexRecord,
  advice: readonly Advice[],
  language: string | null,
  now: Date,
): SavedAdvice {
  const known = ownedBy(state, "recommendation", uid);
  const pending = known.filter(({ status }) => status === "pending");
  const rests = new Subjects(language);
  for (const one of known)
    if (one.status !== "pending" && now.getTime() - Date.parse(one.updated_at) < REST_MS) rests.add(one);
  const renewed = new Subjects<Recommendation>(language);
  for (const one of pending) renewed.add(one);
  const told = new Subjects(language);
  const saved: Recommendation[] = [];
  let nextId = state.nextRecommendationId;
  for (const one of advice) {
    if (rests.like(one) !== undefined || told.like(one) !== undefined) continue;
    told.add(one);
    const before = renewed.like(one);
    const { id, created_at } = before ?? { id: nextId++, created_at: now.toISOString() };
    saved.push({
      ...one,
      id,
      index: uid,
      status: "pending",
      created: null,
      created_at,
      updated_at: now.toISOString(),
    });
  }
  const outdated = pending.filter(
    (one) => !saved.some(({ id }) => id === one.id) && now.getTime() - Date.parse(one.updated_at) >= REST_MS,
  );
  const kept = known.filter((one) => !outdated.includes(one) && !saved.some(({ id }) => id === one.id));
  const surplus = kept
    .filter(({ status }) => status !== "pending")
    .slice(0, Math.max(0, kept.length + saved.length - KEPT_MAX));
  return {
    saved,
    commands: [
      ...saved.map(putRecommendation),
      ...[...outdated, ...surplus].map(
        ({ id }): Command => ({ type: "record.delete", kind: "recommendation", index: uid, id }),
      ),
    ],
  };
}

export function putRecommendation(record: Recommendation): Command {
  return { type: "record.put", kind: "recommendation", record };
}

/** The index's recommendations with this status, newest first. */
export function recommendationsOf(
  state: CatalogState,
  { uid }: IndexRecord,
  status: RecommendationStatus,
): Recommendation[] {
  return ownedBy(state, "recommendation", uid)
    .filter((one) => one.status === status)
    .toReversed();
}

/** Finds a recommendation in these indexes and returns it with its index. Throws SK-AI-404. */
export function findRecommendation(
  state: CatalogState,
  indexes: readonly IndexRecord[],
  id: string,
): { readonly recommendation: Recommendation; readonly index: IndexRecord } {
  for (const index of indexes) {
    const recommendation = ownedBy(state, "recommendation", index.uid).find((one) => String(one.id) === id);
    if (recommendation !== undefined) return { recommendation, index };
  }
  throw new SkeinError("SK-AI-404", "there is no such recommendation");
}

/** The view of a recommendation for clients. */
export function recommendationView(
  { index: _index, created: _created, ...shown }: Recommendation,
  index: IndexRecord,
): object {
  return { ...shown, index: index.name };
}

/** A set of advice in which advice can be found by its subject: its type and its search term. */
class Subjects<T extends Advice = Advice> {
  readonly #language: string | null;
  readonly #known: { readonly advice: T; readonly term: string; readonly form: WordForm }[] = [];

  constructor(language: string | null) {
    this.#language = language;
  }

  add(advice: T): void {
    const term = termOf(advice);
    this.#known.push({ advice, term, form: wordForm(wordsIn(term), this.#language) });
  }

  /**
   * Finds advice in the set that has the same type and subject as `advice`. Other forms and spellings of a
   * term count as the same subject.
   */
  like(advice: Advice): T | undefined {
    const term = termOf(advice);
    const form = wordForm(wordsIn(term), this.#language);
    return this.#known.find(
      (other) =>
        other.advice.type === advice.type &&
        (areSameForm(other.form, form) || areSpellings(other.term, term)),
    )?.advice;
  }
}

function termOf(advice: Advice): string {
  return advice.type === "missing_synonym" ? advice.payload.user_term : advice.payload.query;
}
