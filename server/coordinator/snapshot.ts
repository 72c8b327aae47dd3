// One index as of one generation: everything a query, an export or a count reads goes through this, so that
// it sees one state of all shards. Holds the generation until `release`.
import { type ExpandProgram, encodeExpand } from "../../engine-wasm/host/expand-program.js";
import { decodeExpandResult, type ExpandResult } from "../../engine-wasm/host/expand-result.js";
import { encodeExplain } from "../../engine-wasm/host/explain-program.js";
import { decodeExplainResult, type ExplainedRow } from "../../engine-wasm/host/explain-result.js";
import { encodeSearch, type SearchProgram } from "../../engine-wasm/host/search-program.js";
import { decodeSearchResult, type SearchResult } from "../../engine-wasm/host/search-result.js";
import {
  decodeAllSeqsReply,
  decodeExportReply,
  encodeAllSeqs,
  encodeExport,
} from "../../shards/protocol/export.js";
import {
  decodeFetchReply,
  encodeFetch,
  type FetchedDocument,
  type FetchOptions,
} from "../../shards/protocol/fetch.js";
import { decodePageReply, encodePage } from "../../shards/protocol/page.js";
import {
  decodeResult,
  encodeExpand as encodeExpandRequest,
  encodeExplain as encodeExplainRequest,
  encodeSearch as encodeSearchRequest,
} from "../../shards/protocol/program.js";
import type { QueryTrace } from "../metrics/query-trace.js";
import type { ExpansionCache } from "./expansion-cache.js";
import type { IndexState } from "./index-state.js";
import { type Subject, subjectOf } from "./quarantine.js";
import type { Message } from "./shard-pool.js";
import { sumExpansions } from "./sum-expansions.js";

/** Rows of a search whose documents are wanted, and what of them. */
export interface PageWanted {
  readonly offset: number;
  readonly count: number;
  readonly options: FetchOptions;
}

/** One request to one shard, its reply decoded; a refusal of the shard becomes a SkeinError. */
export type CallShard = <T>(
  shard: number,
  request: Message,
  decode: (reply: Uint8Array) => T,
  /** What is asked, see quarantine.ts. */
  subject?: Subject,
) => Promise<T>;

export class Snapshot {
  readonly generation: number;
  readonly #index: IndexState;
  readonly #expansions: ExpansionCache | null;
  readonly #shards: number;
  readonly #call: CallShard;
  readonly #deadline: number;
  readonly #trace: QueryTrace | undefined;
  #released = false;

  /** `deadline`: Date.now() after which searches end with SK-SE-503. */
  constructor(index: IndexState, shards: number, call: CallShard, deadline: number, trace?: QueryTrace) {
    this.#index = index;
    this.#expansions = index.expansions;
    this.#shards = shards;
    this.#call = call;
    this.#deadline = deadline;
    this.#trace = trace;
    this.generation = index.generations.hold();
  }

  get shards(): number {
    return this.#shards;
  }

  /** Must be called once nothing is read any more; calling it again does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#index.generations.release(this.generation);
  }

  /** Global dictionary answers; remembered per generation. */
  async expand(program: ExpandProgram): Promise<ExpandResult> {
    this.#trace?.enter("expand");
    const bytes = encodeExpand(program);
    const known = this.#expansions?.get(this.generation, bytes);
    if (known !== undefined) return known;
    const answers = await this.#askAll(
      () => encodeExpandRequest(this.#request(bytes)),
      (reply) => decodeExpandResult(decodeResult(reply), program),
      this.#subject("expand", program),
    );
    const sum = sumExpansions(answers);
    this.#expansions?.put(this.generation, bytes, sum);
    return sum;
  }

  /** One result per shard, by its number. */
  search(program: SearchProgram): Promise<SearchResult[]> {
    this.#trace?.enter("search");
    const bytes = encodeSearch(program);
    return this.#askAll(
      () => encodeSearchRequest(this.#request(bytes)),
      (reply) => decodeSearchResult(decodeResult(reply), program),
      this.#subject("search", program),
    );
  }

  /** `search` with the documents of a page of its rows, for an index that lives in one shard. */
  searchPage(
    program: SearchProgram,
    page: PageWanted,
  ): Promise<{ result: SearchResult; documents: FetchedDocument[] }> {
    this.#trace?.enter("search");
    const request = encodePage({ ...this.#request(encodeSearch(program)), ...page });
    const decode = (reply: Uint8Array) => {
      const { result, documents } = decodePageReply(reply);
      return { result: decodeSearchResult(result, program), documents };
    };
    return this.#call(0, request, decode, this.#subject("search", program));
  }

  /** The same search in one shard only. */
  searchShard(shard: number, program: SearchProgram): Promise<SearchResult> {
    const request = encodeSearchRequest(this.#request(encodeSearch(program)));
    const decode = (reply: Uint8Array) => decodeSearchResult(decodeResult(reply), program);
    return this.#call(shard, request, decode, this.#subject("search", program));
  }

  /**
   * Why rows of one shard stand where the program puts them, in the order of `seqs`; null for a row that is not in
   * the result.
   */
  explain(shard: number, program: SearchProgram, seqs: readonly number[]): Promise<(ExplainedRow | null)[]> {
    const request = encodeExplainRequest(this.#request(encodeExplain(program, seqs)));
    const decode = (reply: Uint8Array) => decodeExplainResult(decodeResult(reply), program, seqs);
    return this.#call(shard, request, decode, this.#subject("explain", [program, seqs]));
  }

  /** Stored documents in the order of `seqs`; a document is empty when the shard does not have it. */
  fetch(shard: number, seqs: readonly number[], options: FetchOptions): Promise<FetchedDocument[]> {
    const request = encodeFetch({ uid: this.#index.record.uid, seqs: [...seqs], ...options });
    return this.#call(shard, request, decodeFetchReply, this.#subject("fetch", [seqs, options]));
  }

  /** Ascending sequence numbers of a shard's documents after `afterSeq`, at most `limit`. */
  seqsAfter(shard: number, afterSeq: number, limit: number): Promise<number[]> {
    const { uid } = this.#index.record;
    return this.#call(
      shard,
      encodeAllSeqs({ uid, generation: this.generation, afterSeq, limit }),
      decodeAllSeqsReply,
    );
  }

  /** Documents as NDJSON lines. */
  exportLines(shard: number, seqs: readonly number[]): Promise<Uint8Array> {
    return this.#call(
      shard,
      encodeExport({ uid: this.#index.record.uid, seqs: [...seqs] }),
      decodeExportReply,
    );
  }

  #request(program: Uint8Array) {
    const oldestGeneration = this.#index.generations.oldest;
    const { uid } = this.#index.record;
    return { uid, generation: this.generation, oldestGeneration, deadline: this.#deadline, program };
  }

  #subject(kind: string, asked: unknown): Subject {
    return subjectOf(kind, this.#index.record.uid, asked);
  }

  #askAll<T>(encode: () => Message, decode: (reply: Uint8Array) => T, subject: Subject): Promise<T[]> {
    return Promise.all(
      Array.from({ length: this.#shards }, (_, shard) => this.#call(shard, encode(), decode, subject)),
    );
  }
}
