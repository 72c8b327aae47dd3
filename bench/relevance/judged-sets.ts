// Lists the judged sets in the public data folder, with their location, their text fields, and plain BM25's
// results on them. Reads only files, without a server.

import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import type { Judgments } from "./measures.js";

/** [nDCG@10, MAP, Recall@100] */
export type BaselineFigures = readonly [ndcg10: number, map: number, recall100: number];

export interface JudgedSet {
  readonly name: string;
  /** Text fields in the order of the data folder's README. The server's default weights follow this order. */
  readonly fields: readonly string[];
  /** Plain BM25 with k1 = 0.9 and b = 0.4, then with k1 = 1.2 and b = 0.75. */
  readonly baselines: readonly [BaselineFigures, BaselineFigures];
}

/**
 * The baselines come from the data folder's README.md, "Published and reproduced baselines": Lucene's BM25
 * formula, all text fields concatenated into one, Porter stemmer, 33 stop words, linear gains, queries with
 * at least one relevant document.
 */
export const JUDGED_SETS: readonly JudgedSet[] = [
  {
    name: "cranfield",
    fields: ["title", "text"],
    baselines: [
      [0.4924, 0.3972, 0.7422],
      [0.5158, 0.4207, 0.7538],
    ],
  },
  {
    name: "cisi",
    fields: ["title", "text"],
    baselines: [
      [0.3643, 0.205, 0.4319],
      [0.3835, 0.2186, 0.4461],
    ],
  },
  {
    name: "vaswani",
    fields: ["text"],
    baselines: [
      [0.4378, 0.2858, 0.6186],
      [0.4318, 0.2854, 0.6005],
    ],
  },
  {
    name: "icecat",
    fields: ["name", "title", "brand", "description"],
    baselines: [
      [0.7416, 0.6772, 0.8609],
      [0.7382, 0.6734, 0.8848],
    ],
  },
  {
    name: "esci",
    fields: ["title", "brand", "color", "description", "bullet_points"],
    baselines: [
      [0.7116, 0.711, 0.8647],
      [0.7107, 0.721, 0.873],
    ],
  },
];

/**
 * Returns the better of the two baselines for each measure, the minimum that a product's ranking should
 * reach.
 */
export function targetOf(set: JudgedSet): BaselineFigures {
  const [a, b] = set.baselines;
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.max(a[2], b[2])];
}

export interface JudgedQuery {
  readonly id: string;
  readonly text: string;
  readonly judgments: Judgments;
}

/** Reads the queries with at least one relevant document, in file order. */
export function readQueries(data: string, set: JudgedSet): JudgedQuery[] {
  const judgments = new Map<string, Map<string, number>>();
  for (const line of readFileSync(join(data, set.name, "qrels.tsv"), "utf8")
    .trim()
    .split("\n")) {
    const [query, document, grade] = line.split("\t") as [string, string, string];
    const known = judgments.get(query) ?? new Map<string, number>();
    judgments.set(query, known.set(document, Number(grade)));
  }
  return readFileSync(join(data, set.name, "queries.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; text: string })
    .map(({ id, text }) => ({ id, text, judgments: judgments.get(id) ?? new Map<string, number>() }))
    .filter((query) => [...query.judgments.values()].some((grade) => grade > 0));
}

/** Yields each document's id and text fields. */
export async function* readDocuments(data: string, set: JudgedSet): AsyncGenerator<Record<string, unknown>> {
  const path = join(data, set.name, "documents.jsonl.gz");
  if (!existsSync(path)) throw new Error(`no ${path}; --data names the folder with the judged sets`);
  for await (const document of readJsonLines(path)) {
    const kept = ["id", ...set.fields].filter((name) => document[name] !== undefined);
    yield Object.fromEntries(kept.map((name) => [name, document[name]]));
  }
}

/** Yields a gzipped JSON lines file's objects. */
export async function* readJsonLines(path: string): AsyncGenerator<Record<string, unknown>> {
  const lines = createInterface({ input: createReadStream(path).pipe(createGunzip()), crlfDelay: Infinity });
  for await (const line of lines) if (line !== "") yield JSON.parse(line) as Record<string, unknown>;
}
