// Which query texts perform very well, compared with texts that are searched about equally often.
import { expect, test } from "vitest";
import type { TextDigest } from "../../../../server/coach/digest.js";
import { topPerformers } from "../../../../server/coach/miners/performers.js";

function text(number: number, searches: number, clickRate: number): TextDigest {
  return {
    number,
    text: `text ${number}`,
    searches,
    noResults: 0,
    clicked: Math.round(searches * clickRate),
    rescued: 0,
    found: 10,
    people: searches,
    documents: new Map(),
  };
}

async function performersOf(texts: readonly TextDigest[]): Promise<unknown[]> {
  const digest = { hasClicks: true, texts: new Map(texts.map((one) => [one.number, one])) };
  const advice = await topPerformers(digest, { documents: async () => [] });
  return advice.map(({ payload }) => "query" in payload && payload.query).sort();
}

const USUAL = Array.from({ length: 30 }, (_, i) => text(i, 130 + i * 4, 0.3));

test("finds texts clicked much more often than texts with a similar number of searches", async () => {
  expect(await performersOf([...USUAL, text(90, 200, 0.9), text(91, 200, 0.35)])).toEqual(["text 90"]);
});

test("with few similar texts, several top performers are not compared with each other", async () => {
  const few = Array.from({ length: 12 }, (_, i) => text(40 + i, 42 + i, i < 7 ? 0.9 : 0.3));
  const wanted = few.slice(0, 7).map((one) => one.text);
  expect(await performersOf([...USUAL, ...few])).toEqual(wanted);
});
