// The tenants on the interface fuzzer's server, as data. Everything that belongs to a tenant contains the
// tenant's word, and an index's content also contains the index's word, so a reply shows whose data it
// contains. Other tenants' requests never contain these words.
import { SCOPES } from "../../../server/catalog/records/key.js";

export const TENANTS = ["qzacme", "qzbolt", "qzcrux"] as const;
export const INDEXES = ["shoes", "private"] as const;

export function indexName(tenant: string, index: string): string {
  return `${tenant}-${index}`;
}

/** The word that appears in all content of the index. */
export function contentWord(name: string): string {
  return name.replaceAll("-", "");
}

export const ALL_INDEXES = TENANTS.flatMap((tenant) => INDEXES.map((index) => indexName(tenant, index)));

export interface Role {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Patterns of index names, without the tenant's word. */
  readonly indexes: readonly string[];
  /** Why the key is no longer valid. */
  readonly fate?: "expired" | "deleted";
}

/** Each tenant's keys. */
export const ROLES: readonly Role[] = [
  { name: "admin", scopes: ["admin"], indexes: ["*"] },
  {
    name: "shoes",
    scopes: SCOPES.filter((scope) => scope !== "admin" && scope !== "keys"),
    indexes: ["-shoes*"],
  },
  { name: "search", scopes: ["search"], indexes: ["*"] },
  { name: "page", scopes: ["search", "events"], indexes: ["-shoes"] },
  { name: "writer", scopes: ["documents", "indexes"], indexes: ["*"] },
  { name: "keys", scopes: ["keys", "search"], indexes: ["*"] },
  { name: "report", scopes: ["analytics", "coach", "rules", "sources"], indexes: ["-private"] },
  { name: "expired", scopes: ["admin"], indexes: ["*"], fate: "expired" },
  { name: "deleted", scopes: ["admin"], indexes: ["*"], fate: "deleted" },
];

/** The key that signs the search token. */
export const TOKEN_ROLE = "page";

const FIELDS = [
  { name: "title", type: "string" },
  { name: "brand", type: "string", facet: true, sort: true, infix: true },
  { name: "price", type: "float", facet: true },
  { name: "stock", type: "int32" },
  { name: "big", type: "int64", facet: true },
  { name: "sale", type: "bool", facet: true },
  { name: "tags", type: "string[]", facet: true },
  { name: "sizes", type: "int32[]", facet: true },
  { name: "ratios", type: "float[]" },
];
export const FIELD_NAMES = FIELDS.map(({ name }) => name);

const DOCUMENTS = 12;
const PEOPLE = ["ann", "bob", "cem", "dan", "eve"];

/** Returns the requests, relative to /v1/indexes, that create an index and everything in it. */
export function beginningOf(name: string): (readonly [path: string, body: object])[] {
  const word = contentWord(name);
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({
    id: String(i),
    title: `${word} running shoe ${i}`,
    brand: i % 2 === 0 ? `${word} brand` : "acme",
    price: i * 2.5,
    stock: i - 3,
    big: 2 ** 40 + i,
    sale: i % 3 === 0,
    tags: [word, `t${i % 4}`],
    sizes: [36 + i, 40],
    ratios: [i / 7],
    ...(i % 2 === 0 ? { embedding: Array.from({ length: 512 }, (_, n) => (n % (i + 2) === 0 ? 1 : 0)) } : {}),
  }));
  return [
    [
      "",
      {
        name,
        schema: { fields: FIELDS, default_sorting_field: "price" },
        settings: { embedder: { source: name.endsWith("shoes") ? "pushed" : "auto" } },
      },
    ],
    [`/${name}/documents/batch`, { documents }],
    [
      `/${name}/ranking-rules`,
      {
        name: `${word} rule`,
        type: "pin",
        conditions: { query_contains: ["shoe"] },
        effect: { documents: ["3"] },
      },
    ],
    [`/${name}/synonyms`, { synonyms: [`${word}syn`, "shoe"] }],
    [
      `/${name}/data-sources`,
      { url: `http://127.0.0.1:{feeds}/${word}.json`, format: "json", field_map: { name: "title" } },
    ],
    // The feed requires a password, so a run fails and becomes an incident.
    [`/${name}/data-sources`, { url: `http://127.0.0.1:{feeds}/locked/${word}`, format: "json" }],
    // Searches that find nothing give the coach something to report about this index.
    ...PEOPLE.map(
      (person) => [`/${name}/query`, { q: `umbrella${word}`, user_id: `${word} ${person}` }] as const,
    ),
    [`/${name}/coach/analyze`, {}],
  ];
}
