// The counts of several shards are added position by position.
import { expect, test } from "vitest";
import { sumCompany } from "../../../../../server/question/words/sum-company.js";

const ONE = {
  liveRows: 10,
  words: [4, 0],
  candidates: [
    { documents: 3, together: [2, 0] },
    { documents: 0, together: [0, 0] },
  ],
};
const OTHER = {
  liveRows: 7,
  words: [1, 6],
  candidates: [
    { documents: 5, together: [1, 4] },
    { documents: 2, together: [0, 2] },
  ],
};

test("one shard's answer is the sum", () => {
  expect(sumCompany([ONE])).toEqual(ONE);
});

test("counts of words, of candidates and of both together are added up", () => {
  expect(sumCompany([ONE, OTHER, ONE])).toEqual({
    liveRows: 27,
    words: [9, 6],
    candidates: [
      { documents: 11, together: [5, 4] },
      { documents: 2, together: [0, 2] },
    ],
  });
});

test("programs without words or without candidates are summed", () => {
  const lone = { liveRows: 1, words: [], candidates: [{ documents: 1, together: [] }] };
  expect(sumCompany([lone, lone])).toEqual({
    ...lone,
    liveRows: 2,
    candidates: [{ documents: 2, together: [] }],
  });
  const words = { liveRows: 1, words: [1], candidates: [] };
  expect(sumCompany([words, words])).toEqual({ liveRows: 2, words: [2], candidates: [] });
});
