// The filter that remembers who searched for which text: it finds every pair that was added, and rarely one
// that was not.
import { describe, expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { AskedFilter } from "../../../../server/query-log/rows/asked-filter.js";
import { type OpenSearch, searchBlockOf } from "../../../../server/query-log/rows/open-rows.js";

const ROWS = 5_000;
const random = new Random(7);
const person = (): number => random.below(2 ** 24) * 2 ** 24 + random.below(2 ** 24) + 1;
const rows = Array.from(
  { length: ROWS },
  (_, i): OpenSearch => ({
    at: i,
    counter: i,
    frontEnd: 1,
    text: random.from(1, 300),
    typed: "",
    words: "",
    found: 0,
    took: 0,
    mode: 0,
    filtered: false,
    page: 1,
    user: i % 3 === 0 ? 0 : person(),
    session: i % 2 === 0 ? 0 : person(),
    hits: [],
    marks: 0,
  }),
);
const filter = new AskedFilter(searchBlockOf(rows));
const errors = (holds: (row: OpenSearch) => boolean): number => rows.filter(holds).length;

describe("a filter of who searched for what", () => {
  test("never misses a user or a session that searched for a text", () => {
    for (const { user, session, text } of rows) {
      if (user !== 0) expect(filter.mayHold({ user, session: 0 }, text)).toBe(true);
      if (session !== 0) expect(filter.mayHold({ user: 0, session }, text)).toBe(true);
    }
  });

  test("rarely confuses them with other texts or other people", () => {
    expect(errors(({ user, session, text }) => filter.mayHold({ user, session }, text + 300))).toBeLessThan(
      ROWS * 0.005,
    );
    expect(errors(({ text }) => filter.mayHold({ user: person(), session: person() }, text))).toBeLessThan(
      ROWS * 0.005,
    );
  });

  test("matches no anonymous search, and nothing if it is empty", () => {
    expect(errors(({ text }) => filter.mayHold({ user: 0, session: 0 }, text))).toBe(0);
    expect(new AskedFilter(searchBlockOf([])).mayHold({ user: 5, session: 6 }, 1)).toBe(false);
  });
});
