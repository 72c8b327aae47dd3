// Queries with as many parts as are allowed, or more.
import type { Attack } from "../attack.js";
import { GOODS, NUMBER, numbered, type Place, post, WIDE } from "../place.js";

const FIELDS = 100;

function costly(place: Place): Buffer[] {
  const { search } = place.keys;
  const wide = (body: object): Buffer => post(place, `/v1/indexes/${WIDE}/query`, search, body);
  const goods = (body: object): Buffer => post(place, `/v1/indexes/${GOODS}/query`, search, body);
  const own = { filter_by: `n0:>${NUMBER}` };
  const facets = Array.from({ length: FIELDS }, (_, i) => `f${i}`);
  const sort = Array.from({ length: 250 }, (_, i) => `n${i % FIELDS}:desc`).join(",");
  const words = place.words.slice(0, 64).join(" ");
  const text = "text";
  return [
    wide({ ...own, q: "*", facets, max_facet_values: 1_000, per_page: 250 }),
    wide({ ...own, q: "*", sort: sort.split(",").slice(0, 16).join(","), per_page: 250 }),
    wide({ ...own, q: "*", sort, per_page: 250 }),
    wide({ ...own, q: words, query_by: text, highlight_fields: text, per_page: 250 }),
    goods({ q: words, filter_by: `price:>${NUMBER}`, highlight_fields: "title,description", per_page: 250 }),
  ];
}

export const QUERIES: readonly Attack[] = [
  {
    name: "costly queries",
    what: "100 facets, 250 sort keys, 64 words, highlights of large documents, by 100 clients",
    waves: [
      {
        clients: 100,
        requests: 1_000,
        manner: { kind: "reads" },
        prepare: (place) => numbered(costly(place)),
      },
    ],
  },
];
