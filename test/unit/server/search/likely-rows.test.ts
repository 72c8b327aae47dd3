// Which rows a shard returns together with their documents: the whole page if it is the only shard, otherwise
// about its share of the page.
import { expect, it } from "vitest";
import { likelyRows } from "../../../../server/fleet/reads/likely-rows.js";

it.each([
  [1, 0, 10, [0, 10]],
  [1, 40, 250, [40, 250]],
  [2, 0, 1, [0, 1]],
  [2, 0, 10, [0, 7]],
  [2, 10, 10, [3, 9]],
  [8, 0, 10, [0, 4]],
  [3, 0, 0, [0, 0]],
  [2, 0, 250, [0, 0]],
])("with %i shards, %i rows skipped and %i wanted", (shards, offset, count, [first, rows]) => {
  expect(likelyRows({ offset, count, options: {} }, shards)).toMatchObject({ offset: first, count: rows });
});

it("sends none beyond its share if they are highlighted", () => {
  const highlight = { fields: [], words: [], snippetTokens: 0, startTag: "", endTag: "", escapeHtml: false };
  expect(likelyRows({ offset: 0, count: 10, options: { highlight } }, 2)).toMatchObject({
    offset: 0,
    count: 5,
  });
});
