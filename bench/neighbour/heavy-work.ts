// The kinds of heavy work that a noisy tenant does next to a quiet one. Each kind consists of a few requests
// prepared in advance. A number in each request changes every time it is sent, so that cached answers are
// useless.

import { readFileSync } from "node:fs";

/**
 * A request's bytes. `patched`: positions of eight-digit numbers to overwrite each time the request is sent.
 */
export interface HeavyRequest {
  readonly bytes: Buffer;
  readonly patched: readonly number[];
}

export interface HeavyWork {
  readonly name: string;
  readonly why: string;
  /** Number of connections, each sending one request at a time. */
  readonly clients: number;
  /**
   * Milliseconds after which a client leaves without having waited for the answer, and comes back on a new
   * connection. Absent: clients wait for their answers.
   */
  readonly leavesAfterMs?: number;
  requests(place: Place): HeavyRequest[];
}

/** The noisy tenant's index and documents. */
export interface Place {
  readonly host: string;
  readonly key: string;
  readonly documents: number;
  /** File with the index's documents, one per line. */
  readonly path: string;
  /** The index's facet fields and schema, and words that are frequent in it. */
  readonly facets: readonly string[];
  readonly schema: unknown;
  readonly words: readonly string[];
}

/** Index name, used by both tenants. */
export const INDEX = "goods";

const CLAUSES = 10_000;
const SLOTS = 50;
const PAGE_MAX = 250;
const LINES_PER_IMPORT = 5_000;
const IMPATIENT_MS = 200;
const MARK = "@@@@@@@@";

export const HEAVY_WORK: readonly HeavyWork[] = [
  {
    name: "filter of ranges",
    why: `a filter of ${CLAUSES} ranges of a number, joined by ||`,
    clients: 4,
    requests: (place) => [query(place, { q: "*", filter_by: ranges(), per_page: 10 })],
  },
  {
    name: "filter of words",
    why: `a filter of ${CLAUSES} words of a text, by turns joined by && and ||`,
    clients: 4,
    requests: (place) => [query(place, { q: "*", filter_by: wordClauses(place.words), per_page: 10 })],
  },
  {
    name: "multi-search",
    why: `${SLOTS} searches in one request, each of frequent words with facets, highlights and ${PAGE_MAX} hits`,
    clients: 4,
    requests: (place) => [post(place, "/v1/multi-search", { searches: slots(place) })],
  },
  {
    name: "abandoned multi-search",
    why: `the same, but the clients leave after ${IMPATIENT_MS} ms and send the next one`,
    clients: 4,
    leavesAfterMs: IMPATIENT_MS,
    requests: (place) => [post(place, "/v1/multi-search", { searches: slots(place) })],
  },
  {
    name: "deep pages",
    why: `pages of ${PAGE_MAX} hits as deep as the index goes, sorted`,
    clients: 4,
    requests: (place) => [
      query(place, {
        q: "*",
        filter_by: `price:>=0.${MARK}`,
        sort: "rating:desc,price:asc",
        per_page: PAGE_MAX,
        page: Math.floor(place.documents / PAGE_MAX) - 2,
      }),
    ],
  },
  {
    name: "imports",
    why: `imports of ${LINES_PER_IMPORT} documents without end, each replacing what is there`,
    clients: 3,
    requests: imports,
  },
  {
    name: "new indexes",
    why: "indexes created one after the other",
    clients: 2,
    requests: (place) => [post(place, "/v1/indexes", { name: `made-${MARK}`, schema: place.schema })],
  },
];

function ranges(): string {
  return Array.from({ length: CLAUSES }, (_, i) => {
    const low = 3 + (i * 397) / CLAUSES;
    return `price:[${low.toFixed(4)}..${(low + 0.01).toFixed(2)}${i === 0 ? MARK : ""}]`;
  }).join(" || ");
}

function wordClauses(words: readonly string[]): string {
  const clauses = Array.from({ length: CLAUSES }, (_, i) => `description:${words[i % words.length]}`);
  const joined = clauses.map((clause, i) => (i === 0 ? clause : `${i % 2 === 0 ? "&&" : "||"} ${clause}`));
  return `price:>=0.${MARK} || ${joined.join(" ")}`;
}

function slots({ words, facets }: Place): object[] {
  return Array.from({ length: SLOTS }, (_, i) => ({
    index: INDEX,
    q: `${words[i % 20]} ${words[(i * 7 + 1) % 20]}`,
    filter_by: `price:>=0.${MARK}`,
    facets,
    highlight_fields: "title,description",
    per_page: PAGE_MAX,
  }));
}

function imports(place: Place): HeavyRequest[] {
  const lines = readFileSync(place.path, "utf8").trimEnd().split("\n");
  const requests: HeavyRequest[] = [];
  for (let at = 0; at < lines.length; at += LINES_PER_IMPORT) {
    const body = Buffer.from(`${lines.slice(at, at + LINES_PER_IMPORT).join("\n")}\n`);
    const path = `/v1/indexes/${INDEX}/documents/import`;
    requests.push(patchable(requestBytes(place, path, "application/x-ndjson", body)));
  }
  return requests;
}

function query(place: Place, body: object): HeavyRequest {
  return post(place, `/v1/indexes/${INDEX}/query`, body);
}

function post(place: Place, path: string, body: object): HeavyRequest {
  return patchable(requestBytes(place, path, "application/json", Buffer.from(JSON.stringify(body))));
}

function requestBytes({ host, key }: Place, path: string, type: string, body: Buffer): Buffer {
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function patchable(bytes: Buffer): HeavyRequest {
  const patched: number[] = [];
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + MARK.length)) patched.push(at);
  return { bytes, patched };
}
