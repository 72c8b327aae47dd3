// Filters with almost as many comparisons as are allowed. Each takes some megabytes while it is planned.
import type { Attack, Wave } from "../attack.js";
import { GOODS, NUMBER, numbered, type Place, post } from "../place.js";

/** Just below `filterClausesMax`. */
const CLAUSES = 19_990;

function filterWave(clients: number, requests: number): Wave {
  return {
    clients,
    requests,
    manner: { kind: "reads" },
    prepare: (place) =>
      numbered(
        [joinedByOr(), byTurns(place), listed(place)].map((filter) =>
          post(place, `/v1/indexes/${GOODS}/query`, place.keys.search, { q: "*", filter_by: filter }),
        ),
      ),
  };
}

function joinedByOr(): string {
  return [`price:>${NUMBER}`, ...Array.from({ length: CLAUSES - 1 }, (_, i) => `price:${i % 100}`)].join(
    "||",
  );
}

function byTurns({ words }: Place): string {
  const clauses = Array.from({ length: CLAUSES - 1 }, (_, i) => `title:${words[i % words.length]}`);
  const joined = clauses.map((clause, i) => `${i % 2 === 0 ? "&&" : "||"}${clause}`);
  return `price:>${NUMBER}${joined.join("")}`;
}

function listed({ words }: Place): string {
  const values = Array.from({ length: CLAUSES - 1 }, (_, i) => `${words[i % words.length]}${i}`);
  return `price:>${NUMBER} && brand:=[${values.join(",")}]`;
}

export const FILTERS: readonly Attack[] = [
  {
    name: "filters",
    what: `filters of ${CLAUSES} comparisons by 320 clients at once`,
    waves: [filterWave(320, 1_280)],
  },
  {
    name: "filters at once",
    what: `2,600 filters of ${CLAUSES} comparisons, all at once`,
    waves: [filterWave(2_600, 2_600)],
  },
];
