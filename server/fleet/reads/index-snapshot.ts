// One index at one generation. Queries, exports and counts read through a snapshot, so they see a consistent
// state across all shards. A snapshot holds its generation until `release` is called.
import { type CompanyProgram, encodeCompany } from "../../../engine-wasm/host/programs/company-program.js";
import {
  type CompanyResult,
  decodeCompanyResult,
} from "../../../engine-wasm/host/programs/company-result.js";
import { type ExpandProgram, encodeExpand } from "../../../engine-wasm/host/programs/expand-program.js";
import { decodeExpandResult, type ExpandResult } from "../../../engine-wasm/host/programs/expand-result.js";
import { encodeExplain } from "../../../engine-wasm/host/programs/explain-program.js";
import { decodeExplainResult, type ExplainedRow } from "../../../engine-wasm/host/programs/explain-result.js";
import { encodeNearest } from "../../../engine-wasm/host/programs/nearest-program.js";
import {
  decodeNearestResult,
  type NearestResult,
} from "../../../engine-wasm/host/programs/nearest-result.js";
import { encodeSearch, type SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import {
  isLongResult,
  readingOfSearchResult,
  readSearchResult,
  type SearchResult,
  seqsOfResult,
} from "../../../engine-wasm/host/programs/search-result.js";
import type { SnapshotQuestion } from "../../../engine-wasm/host/wasm/memory.js";
import {
  decodeAllSeqsReply,
  decodeExportReply,
  type ExportLines,
  encodeAllSeqs,
  encodeExport,
} from "../../../shards/protocol/export.js";
import type { FetchedDocument, FetchOptions } from "../../../shards/protocol/fetch.js";
import type { EmbedReply, WeightedTerm } from "../../../shards/protocol/vectors.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Places } from "../../catalog/schema/placement.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import type { QueryTrace } from "../../ground/metrics/query-trace.js";
import type { ExpansionCache } from "../../question/words/expansion-cache.js";
import type { LocalReader } from "../local/local-reader.js";
import {
  type AskedSnapshot,
  embedRead,
  fetchRead,
  messageRead,
  type PageRead,
  type PageWanted,
  type ProgramRead,
  type ShardRead,
  type ShardReader,
  similaritiesRead,
} from "../shard-reader.js";
import { inSlices, type OwnSlices } from "../threads/tenant-slices.js";
import type { Question, RememberedAnswer } from "./answer-cache.js";
import type { IndexHandle, Remembered } from "./index-handle.js";
import { likelyRows, type PageOf } from "./likely-rows.js";

export interface FoundPage {
  /** In shard order. */
  readonly results: readonly SearchResult[];
  /** The documents sent with the results, by sequence number. */
  readonly documents: ReadonlyMap<number, FetchedDocument>;
}

/**
 * The two ways of reading an index: by messages to the shards' threads, or from their memories on this
 * thread.
 */
export interface ShardReaders {
  readonly threads: ShardReader;
  /** Reads small indexes on this thread. */
  readonly local: LocalReader;
}

type ExplainedRows = (ExplainedRow | null)[];

export class IndexSnapshot implements AskedSnapshot {
  readonly generation: number;
  readonly data: number;
  readonly places: Places;
  readonly deadline: number;
  /** Records the query's phases; undefined if the query is not traced. */
  readonly trace: QueryTrace | undefined;
  readonly #index: IndexHandle;
  /**
   * The caches when the snapshot was taken. The snapshot's results go only into these, so if the caches are
   * invalidated and replaced, the new ones never receive stale results.
   */
  readonly #remembered: Remembered | null;
  readonly #reader: ShardReader;
  readonly life: RequestLife;
  readonly slices: OwnSlices;
  readonly #onReleased: () => void;
  #released = false;

  /** Searches fail with SK-SE-503 after `deadline`, a time in Date.now() milliseconds. */
  constructor(
    index: IndexHandle,
    { threads, local }: ShardReaders,
    life: RequestLife,
    slices: OwnSlices,
    deadline: number,
    onReleased: () => void,
    trace?: QueryTrace,
  ) {
    this.#index = index;
    this.generation = index.generations.hold();
    const { data, places } = index.locationAt(this.generation);
    this.data = data;
    this.places = places;
    this.#remembered = index.rememberedAt(this.generation);
    this.#reader = local.takes(data, index.documents) ? local : threads;
    this.life = life;
    this.slices = slices;
    this.deadline = deadline;
    this.#onReleased = onReleased;
    this.trace = trace;
    if (trace !== undefined) trace.shards = this.shards;
  }

  /**
   * Number of shards that have the index. A snapshot numbers these shards from 0, independently of their
   * numbers in the server.
   */
  get shards(): number {
    return this.places.length;
  }

  get record(): IndexRecord {
    return this.#index.record;
  }

  get tenant(): number {
    return this.#index.record.tenant;
  }

  /** Lowest generation that any reader still needs. */
  get oldestGeneration(): number {
    return this.#index.generations.oldest;
  }

  /** Cached term expansions; null while the index is being rebuilt. */
  get expansions(): ExpansionCache | null {
    return this.#remembered?.expansions ?? null;
  }

  /**
   * Invalidates the index's caches in all threads. Called if a document in an answer no longer exists: cached
   * answers may then be stale too.
   */
  forget(): void {
    this.#index.forget();
  }

  /** Caches an answer computed from this snapshot. */
  remember(question: Question, answer: RememberedAnswer): void {
    this.#remembered?.answers.put(this.generation, question, answer);
  }

  /** Call after the last read. Repeated calls do nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#index.generations.release(this.generation);
    this.#onReleased();
  }

  /** Expands the words in each shard's dictionary. Returns one result per shard, in shard order. */
  expand(program: ExpandProgram): ExpandResult[] | Promise<ExpandResult[]> {
    const decode = (result: Uint8Array): ExpandResult => decodeExpandResult(result, program);
    return this.#all(this.#program("expand", encodeExpand(program), program, decode));
  }

  /**
   * Counts, for each pair of a candidate and a word, the documents that contain both. Returns one result per
   * shard, in shard order.
   */
  company(program: CompanyProgram): CompanyResult[] | Promise<CompanyResult[]> {
    const decode = (result: Uint8Array): CompanyResult => decodeCompanyResult(result, program);
    return this.#all(this.#program("company", encodeCompany(program), program, decode));
  }

  /** Searches all shards. Returns one result per shard, in shard order. */
  search(program: SearchProgram): SearchResult[] | Promise<SearchResult[]> {
    this.trace?.enter("search");
    const decode = (result: Uint8Array): SearchResult => readSearchResult(result, program);
    return this.#all(this.#program("search", encodeSearch(program), program, decode));
  }

  /**
   * Like `search`, but the shards also send documents that are likely to be on the page. A single shard sends
   * all of the page's documents. Several shards send most of them, and the caller fetches the rest. A search
   * on this thread (small index) returns no documents.
   */
  searchPage(program: SearchProgram, pageOf: PageOf): FoundPage | Promise<FoundPage> {
    this.trace?.enter("search");
    const read = new PageSearch(this, program, pageOf);
    const results = gathered(this.#reader.read(read, this.places));
    return results instanceof Promise
      ? results.then((all) => ({ results: all, documents: read.documents }))
      : { results, documents: read.documents };
  }

  /** Returns the sequence numbers of one shard's rows, in result order. */
  seqsFound(shard: number, program: SearchProgram): Float64Array | Promise<Float64Array> {
    const decode = (result: Uint8Array) => seqsOfResult(result, 0, Number.POSITIVE_INFINITY);
    return this.#one(this.#program("search", encodeSearch(program), program, decode), shard);
  }

  /**
   * Explains the ranking of one shard's rows, in the order of `seqs`. An entry is null if the row is not in
   * the result.
   */
  explain(
    shard: number,
    program: SearchProgram,
    seqs: readonly number[],
  ): ExplainedRows | Promise<ExplainedRows> {
    const decode = (result: Uint8Array) => decodeExplainResult(result, program, seqs);
    return this.#one(this.#program("explain", encodeExplain(program, seqs), [program, seqs], decode), shard);
  }

  /**
   * Returns, for each shard, the `wanted` matching documents whose codes are most similar to the query's,
   * most similar first.
   */
  nearest(
    program: SearchProgram,
    query: Float32Array,
    wanted: number,
  ): NearestResult[] | Promise<NearestResult[]> {
    const encoded = encodeNearest(query, wanted, encodeSearch(program));
    return this.#all(this.#program("nearest", encoded, [program, wanted], decodeNearestResult));
  }

  /**
   * Returns the cosine similarity between the query and each of these documents of one shard; NaN for a
   * document without a vector.
   */
  similarities(
    shard: number,
    query: Float32Array,
    seqs: ArrayLike<number>,
  ): Float32Array | Promise<Float32Array> {
    return this.#one(similaritiesRead(this, query, seqs), shard);
  }

  /**
   * Returns the query vector that a shard's model computes from the terms, and the vectors of some of the
   * shard's documents.
   */
  embed(
    shard: number,
    terms: readonly WeightedTerm[],
    seqs: readonly number[],
  ): EmbedReply | Promise<EmbedReply> {
    return this.#one(embedRead(this, terms, seqs), shard);
  }

  /**
   * Returns stored documents in the order of `seqs`. If the shard does not have a document, its entry is
   * empty.
   */
  fetch(
    shard: number,
    seqs: readonly number[],
    options: FetchOptions,
  ): FetchedDocument[] | Promise<FetchedDocument[]> {
    return this.#one(fetchRead(this, seqs, options), shard);
  }

  /**
   * Returns at most `limit` sequence numbers of a shard's documents: the lowest above `afterSeq`, in
   * ascending order.
   */
  seqsAfter(shard: number, afterSeq: number, limit: number): number[] | Promise<number[]> {
    const { data: uid, generation } = this;
    const message = encodeAllSeqs({ uid, generation, afterSeq, limit });
    return this.#one(messageRead(this, message, decodeAllSeqsReply), shard);
  }

  /**
   * Returns documents as NDJSON lines. The shard decides how many of them fit into one reply, and leaves out
   * the rest.
   */
  exportLines(shard: number, seqs: readonly number[]): ExportLines | Promise<ExportLines> {
    const message = encodeExport({ uid: this.data, seqs: [...seqs] });
    return this.#one(messageRead(this, message, decodeExportReply), shard);
  }

  #program<T>(
    kind: SnapshotQuestion,
    program: Uint8Array,
    asked: unknown,
    decode: (result: Uint8Array) => T,
  ): ProgramRead<T> {
    return { kind, of: this, asked, program, deadline: this.deadline, decode };
  }

  /** Returns the replies of all shards, in shard order. */
  #all<T>(read: ShardRead<T>): T[] | Promise<T[]> {
    return gathered(this.#reader.read(read, this.places));
  }

  /** Returns one shard's reply. */
  #one<T>(read: ShardRead<T>, shard: number): T | Promise<T> {
    const shards = this.shards === 1 ? this.places : [this.places[shard]!];
    return this.#reader.read(read, shards)[0] as T | Promise<T>;
  }
}

/** Shared by all snapshots; must stay empty. */
const NO_DOCUMENTS = new Map<number, FetchedDocument>();

/** A search, and the documents that the shards send with its results. */
class PageSearch implements PageRead<SearchResult> {
  readonly kind = "page";
  readonly of: IndexSnapshot;
  readonly asked: SearchProgram;
  readonly program: Uint8Array;
  /** Documents received so far, by sequence number. */
  documents = NO_DOCUMENTS;
  readonly #pageOf: PageOf;
  #page: PageWanted | null = null;

  constructor(of: IndexSnapshot, asked: SearchProgram, pageOf: PageOf) {
    this.of = of;
    this.asked = asked;
    this.program = encodeSearch(asked);
    this.#pageOf = pageOf;
  }

  get deadline(): number {
    return this.of.deadline;
  }

  wanted(): PageWanted {
    this.#page ??= likelyRows(this.#pageOf.page(this.asked), this.of.shards);
    return this.#page;
  }

  decode(result: Uint8Array, sent: readonly FetchedDocument[]): SearchResult | Promise<SearchResult> {
    if (sent.length > 0) {
      if (this.documents === NO_DOCUMENTS) this.documents = new Map();
      const seqs = seqsOfResult(result, this.wanted().offset, sent.length);
      for (let i = 0; i < sent.length; i++) this.documents.set(seqs[i]!, sent[i]!);
    }
    return isLongResult(result)
      ? inSlices(readingOfSearchResult(result, this.asked), this.of.slices)
      : readSearchResult(result, this.asked);
  }
}

/** Returns a plain array if no answer is a promise, otherwise a promise. */
function gathered<T>(answers: (T | Promise<T>)[]): T[] | Promise<T[]> {
  for (const answer of answers) if (answer instanceof Promise) return Promise.all(answers);
  return answers as T[];
}
