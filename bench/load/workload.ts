// Reads a workload from bench/workloads: the documents, the share of each kind of query, and the durations.

import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface QueryKind {
  readonly name: string;
  /** Relative weight in the mix. */
  readonly share: number;
  /** Number of words drawn from one document, as [min, max]. [0, 0] sends a browse query. */
  readonly words: readonly [number, number];
  /** Cuts the last word short. */
  readonly prefix?: boolean;
  /** Misspells one word, so that no document in the sample contains it. */
  readonly typo?: boolean;
  /** Uses one of the sample's most frequent words instead of words drawn from one document. */
  readonly frequent?: boolean;
  /** Number of fields whose facets are counted. */
  readonly facets?: number;
  /** Filters by a value of the document from which the words are drawn. */
  readonly filter?: boolean;
  /** Sorts by a numeric field. */
  readonly sort?: boolean;
}

export interface Workload {
  readonly name: string;
  readonly why: string;
  readonly data: { readonly generate: number; readonly seed: number } | { readonly file: string };
  readonly seed: number;
  readonly concurrency: readonly number[];
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly perPage: number;
  readonly mix: readonly QueryKind[];
}

/** `name` is a file path, or the name of a file in bench/workloads without its extension. */
export function readWorkload(name: string): Workload {
  const path = name.endsWith(".json") ? name : join("bench/workloads", `${name}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as Workload;
}
