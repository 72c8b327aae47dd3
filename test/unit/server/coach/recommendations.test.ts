// How an analysis updates stored recommendations: pending ones are renewed, decided ones are not repeated for
// 30 days in any spelling or form, and old ones are removed.
import { expect, test } from "vitest";
import type { Advice, Recommendation } from "../../../../server/catalog/records/recommendation.js";
import { apply, type CatalogState, type Command, EMPTY_STATE } from "../../../../server/catalog/state.js";
import { recommendationsOf, saveAdvice } from "../../../../server/coach/recommendations.js";
import { makeRecord } from "../record.js";

const DAY_MS = 86_400_000;
const NOW = new Date("2026-03-01T12:00:00Z");
const later = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);
const INDEX = { ...makeRecord(), uid: 4 };

const base = {
  title: "t",
  description: "d",
  confidence: "high",
  search_count: 30,
  evidence: {},
} as const;
const gap = (query: string, searches = 30): Advice => ({
  ...base,
  search_count: searches,
  type: "catalog_gap",
  payload: { query, search_count: searches, nearest_terms: [] },
});
const synonym = (user_term: string, your_term = "trousers"): Advice => ({
  ...base,
  type: "missing_synonym",
  payload: { user_term, your_term, kind: "multi_way" },
});

class Story {
  state: CatalogState;

  constructor() {
    this.state = apply(EMPTY_STATE, { type: "index.put", record: INDEX }).state;
  }

  save(advice: readonly Advice[], now: Date, language: string | null = "en"): readonly Recommendation[] {
    const { commands, saved } = saveAdvice(this.state, INDEX, advice, language, now);
    this.#take(commands);
    return saved;
  }

  decide(id: number, status: "applied" | "dismissed", now: Date): void {
    const found = recommendationsOf(this.state, INDEX, "pending").find((one) => one.id === id)!;
    const changed = { ...found, status, updated_at: now.toISOString() };
    this.#take([{ type: "record.put", kind: "recommendation", record: changed }]);
  }

  #take(commands: readonly Command[]): void {
    this.state = apply(this.state, { type: "all", commands }).state;
  }

  pending(): string[] {
    return recommendationsOf(this.state, INDEX, "pending").map((one) =>
      one.type === "missing_synonym" ? one.payload.user_term : one.payload.query,
    );
  }
}

test("advice found again is updated under its id, even if spelt differently", () => {
  const story = new Story();
  const [first] = story.save([gap("blue sneaker")], NOW);
  const [again, other] = story.save([gap("blue sneakers", 50), gap("hat")], later(3));
  expect([again!.id, again!.search_count, again!.created_at]).toEqual([first!.id, 50, NOW.toISOString()]);
  expect(again!.updated_at).toBe(later(3).toISOString());
  expect(other!.id).not.toBe(first!.id);
  expect(story.pending()).toEqual(["hat", "blue sneakers"]);
});

test.each(["applied", "dismissed"] as const)(
  "advice that was %s stays away for 30 days, however it is spelt",
  (status) => {
    const story = new Story();
    const [{ id }] = story.save([gap("blue sneaker")], NOW) as [Recommendation];
    story.decide(id, status, later(1));
    for (const query of ["blue sneaker", "blue sneakers", "sneaker blue", "blue sneeker"])
      expect(story.save([gap(query)], later(30))).toEqual([]);
    expect(story.save([gap("red sneaker")], later(30))).toHaveLength(1);
    expect(story.save([synonym("blue sneaker")], later(30))).toHaveLength(1);
    const [back] = story.save([gap("blue sneaker")], later(31.1));
    expect(back).toMatchObject({ status: "pending" });
    expect(back!.id).not.toBe(id);
  },
);

test("duplicate advice in one analysis counts once", () => {
  expect(new Story().save([synonym("slax"), synonym("slaxs")], NOW)).toHaveLength(1);
});

test("advice not found for 30 days is deleted; decided advice is kept", () => {
  const story = new Story();
  const [old, kept] = story.save([gap("alpha"), gap("omega")], NOW) as [Recommendation, Recommendation];
  story.decide(kept.id, "applied", NOW);
  story.save([gap("renewed")], later(29));
  expect(story.pending()).toContain("alpha");
  story.save([gap("renewed")], later(30));
  expect(story.pending()).toEqual(["renewed"]);
  expect(recommendationsOf(story.state, INDEX, "applied").map(({ id }) => id)).toEqual([kept.id]);
  expect(old.id).not.toBe(kept.id);
});

test("an index keeps at most 1,000 pieces of advice; the oldest decided ones are deleted first", () => {
  const story = new Story();
  const names = Array.from({ length: 700 }, (_, i) => `q${i.toString(36).padStart(9, "xyz")}${i * 7919}`);
  for (const [round, now] of [NOW, later(40)].entries()) {
    const saved = story.save(
      names.map((name) => gap(`${name} ${round}`)),
      now,
      null,
    );
    for (const { id } of saved) story.decide(id, "dismissed", now);
  }
  const all = recommendationsOf(story.state, INDEX, "dismissed");
  expect(all.length).toBeLessThanOrEqual(1_000);
  expect(all[0]!.updated_at).toBe(later(40).toISOString());
});
