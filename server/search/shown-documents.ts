// Determines which fields of a page's documents are returned, which words are highlighted, and how many bytes
// the documents may take. The shards send documents either along with their rows or in a separate fetch.
import type { SearchProgram } from "../../engine-wasm/host/programs/search-program.js";
import type { FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSettings } from "../catalog/definition/settings.js";
import type { PageWanted } from "../fleet/shard-reader.js";
import { highlightRequest } from "../question/request/highlight-request.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { QueryPlan } from "./matching/plan.js";
import { TIMES_WRITTEN } from "./respond.js";

/**
 * Returns the number of bytes available for documents and their highlights in a reply of `replyBytesMax`
 * bytes. Unlimited for a single document, which is always shown.
 */
export function documentBytes(replyBytesMax: number, documents: number): number {
  return documents === 1 ? Number.MAX_SAFE_INTEGER : Math.floor(replyBytesMax / TIMES_WRITTEN);
}

/** Options for whole documents without highlights. */
const WHOLE: FetchOptions = {};

/** The same options, for documents that take at most this many bytes. */
export function withinBytes(
  options: FetchOptions,
  bytesMax: number,
): FetchOptions & { readonly bytesMax: number } {
  return options === WHOLE ? { bytesMax } : { ...options, bytesMax };
}

export class ShownDocuments {
  readonly #request: QueryRequest;
  readonly #plan: QueryPlan;
  readonly #settings: IndexSettings;
  readonly #likelyBytesMax: number;

  /** `shards` is the number of shards that store the index. */
  constructor(
    request: QueryRequest,
    plan: QueryPlan,
    settings: IndexSettings,
    replyBytesMax: number,
    shards: number,
  ) {
    this.#request = request;
    this.#plan = plan;
    this.#settings = settings;
    this.#likelyBytesMax = Math.floor(documentBytes(replyBytesMax, request.perPage) / shards);
  }

  /** Options for fetching documents: which members to return, and what to highlight. */
  fetched(program: SearchProgram): FetchOptions {
    const { keepFields, dropFields, highlight } = this.#request.shape;
    if (keepFields === null && dropFields === null && highlight.length === 0) return WHOLE;
    return {
      ...(keepFields === null ? {} : { fields: [...keepFields] }),
      ...(dropFields === null ? {} : { excludeFields: [...dropFields] }),
      ...(highlight.length === 0 || program.words.length === 0
        ? {}
        : { highlight: highlightRequest(highlight, this.#plan.text, program.words, this.#settings) }),
    };
  }

  /**
   * Like `fetched`, for documents that a shard sends along with its rows. The page may show none of them, so
   * each shard gets an equal share of the reply's bytes. Missing documents are fetched later.
   */
  sentAlong(program: SearchProgram): FetchOptions & { readonly bytesMax: number } {
    return withinBytes(this.fetched(program), this.#likelyBytesMax);
  }

  page(program: SearchProgram): PageWanted {
    return { offset: this.#plan.offset, count: this.#request.perPage, options: this.sentAlong(program) };
  }
}
