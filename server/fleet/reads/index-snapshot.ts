// One index as of one generation: everything a query, an export or a count reads goes through this, so that
// it sees one state of all shards. Holds the generation until `release`.
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
  decodingOfSearchResult,
  type SearchResult,
  seqsOfResult,
} from "../../../engine-wasm/host/programs/search-result.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import type { SnapshotQuestion } from "../../../engine-wasm/host/wasm/memory.js";
import {
  decodeAllSeqsReply,
  decodeExportReply,
  type ExportLines,
  encodeAllSeqs,
  encodeExport,
} from "../../../shards/protocol/export.js";
import type { FetchedDocument, FetchOptions } from "../../../shards/protocol/fetch.js";
import type { PageReply } from "../../../shards/protocol/page.js";
import type { EmbedReply, WeightedTerm } from "../../../shards/protocol/vectors.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Places } from "../../catalog/schema/placement.js";
import type { QueryTrace } from "../../ground/metrics/query-trace.js";
import type { ExpansionCache } from "../../question/words/expansion-cache.js";
import type { LocalReader } from "../local/local-reader.js";
import {
  type AskedSnapshot,
  embedRead,
  fetchRead,
  messageRead,
  type PageRead,
  type ProgramRead,
  type ShardRead,
  type ShardReader,
  similaritiesRead,
  subjectOf,
} from "../shard-reader.js";
import { inSlices } from "../threads/tenant-slices.js";
import type { Question, RememberedAnswer } from "./answer-cache.js";
import type { IndexHandle, Remembered } from "./index-handle.js";
import { likelyRows, type PageWanted } from "./likely-rows.js";

export interface FoundPage {
  /** One result per shard, by its number. */
  readonly results: readonly SearchResult[];
  /** By seq. */
  readonly documents: ReadonlyMap<number, FetchedDocument>;
}

/** How an index is read. */
export interface ShardReaders {
  readonly threads: ShardReader;
  /** For small indexes. */
  readonly local: LocalReader;
}

export class IndexSnapshot implements AskedSnapshot {
  readonly generation: number;
  readonly data: number;
  readonly places: Places;
  readonly deadline: number;
  /** Whose phases the questions belong to. */
  readonly trace: QueryTrace | undefined;
  readonly #index: IndexHandle;
  /** As of the beginning: what was forgotten since then must not come back. */
  readonly #remembered: Remembered | null;
  readonly #reader: ShardReader;
  /** See TenantSlices. */
  readonly nextSlice: () => Promise<void>;
  readonly #onReleased: () => void;
  #released = false;

  /** `deadline`: Date.now() after which searches end with SK-SE-503. */
  constructor(
    index: IndexHandle,
    { threads, local }: ShardReaders,
    nextSlice: () => Promise<void>,
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
    this.#reader = local.takes(index.documents) ? local : threads;
    this.nextSlice = nextSlice;
    this.deadline = deadline;
    this.#onReleased = onReleased;
    this.trace = trace;
    if (trace !== undefined) trace.shards = this.shards;
  }

  /**
   * In how many shards the index lies. They are numbered from 0 on here, whichever of the server's they are.
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

  /** No reader needs an older one. */
  get oldestGeneration(): number {
    return this.#index.generations.oldest;
  }

  /** What is remembered of the dictionaries; none while the index is rebuilt. */
  get expansions(): ExpansionCache | null {
    return this.#remembered?.expansions ?? null;
  }

  /** A document of an answer is not there any more, so other answers may be no better. */
  forget(): void {
    this.#index.forget();
  }

  /** The answer that was made from this snapshot. */
  remember(question: Question, answer: RememberedAnswer): void {
    this.#remembered?.answers.put(this.generation, question, answer);
  }

  /** Must be called once nothing is read any more; calling it again does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#index.generations.release(this.generation);
    this.#onReleased();
  }

  /** What the dictionary of each shard answers, by its number. */
  expand(program: ExpandProgram): Promise<ExpandResult[]> {
    const decode = (result: Uint8Array): ExpandResult => decodeExpandResult(result, program);
    return this.#all(this.#program("expand", encodeExpand(program), program, decode));
  }

  /** In how many documents of each shard the words and candidates stand together, by the shard's number. */
  company(program: CompanyProgram): Promise<CompanyResult[]> {
    const decode = (result: Uint8Array): CompanyResult => decodeCompanyResult(result, program);
    return this.#all(this.#program("company", encodeCompany(program), program, decode));
  }

  /** One result per shard, by its number. */
  search(program: SearchProgram): Promise<SearchResult[]> {
    this.trace?.enter("search");
    const decode = (result: Uint8Array): SearchResult => finished(decodingOfSearchResult(result, program));
    return this.#all(this.#program("search", encodeSearch(program), program, decode));
  }

  /**
   * `search`, and with it the documents of those rows of each shard that are likely to be on the page: with
   * one shard all of them, with several most; the others are to be fetched. Those of a small index are
   * fetched where they are needed.
   */
  async searchPage(program: SearchProgram, page: PageWanted): Promise<FoundPage> {
    this.trace?.enter("search");
    const { offset, count } = likelyRows(page, this.shards);
    let documents = NO_DOCUMENTS;
    const decode = ({ result, documents: sent }: PageReply): SearchResult | Promise<SearchResult> => {
      if (sent.length > 0 && documents === NO_DOCUMENTS) documents = new Map();
      const seqs = sent.length === 0 ? NO_SEQS : seqsOfResult(result, offset, sent.length);
      for (let i = 0; i < sent.length; i++) documents.set(seqs[i]!, sent[i]!);
      return inSlices(decodingOfSearchResult(result, program), this.nextSlice);
    };
    const read: PageRead<SearchResult> = {
      kind: "page",
      of: this,
      subject: subjectOf("search", this, program),
      program: encodeSearch(program),
      deadline: this.deadline,
      offset,
      count,
      options: page.options,
      decode,
    };
    const results = gathered(this.#reader.read(read, this.places));
    return { results: results instanceof Promise ? await results : results, documents };
  }

  /** The sequence numbers of the rows of one shard, in the order of its result. */
  async seqsFound(shard: number, program: SearchProgram): Promise<Float64Array> {
    const decode = (result: Uint8Array) => seqsOfResult(result, 0, Number.POSITIVE_INFINITY);
    return this.#one(this.#program("search", encodeSearch(program), program, decode), shard);
  }

  /**
   * Why rows of one shard stand where the program puts them, in the order of `seqs`; null for a row that is
   * not in the result.
   */
  async explain(
    shard: number,
    program: SearchProgram,
    seqs: readonly number[],
  ): Promise<(ExplainedRow | null)[]> {
    const decode = (result: Uint8Array) => decodeExplainResult(result, program, seqs);
    return this.#one(this.#program("explain", encodeExplain(program, seqs), [program, seqs], decode), shard);
  }

  /**
   * By shard: the documents among those that pass the program whose codes are most similar to that of the
   * query, most similar first.
   */
  nearest(program: SearchProgram, query: Float32Array, wanted: number): Promise<NearestResult[]> {
    const encoded = encodeNearest(query, wanted, encodeSearch(program));
    return this.#all(this.#program("nearest", encoded, [program, wanted], decodeNearestResult));
  }

  /** Cosines of the query and documents of a shard; NaN for a document without a vector. */
  similarities(shard: number, query: Float32Array, seqs: ArrayLike<number>): Promise<Float32Array> {
    return this.#one(similaritiesRead(this, query, seqs), shard);
  }

  /** What a shard's model says of terms, and the vectors of some of its documents. */
  embed(shard: number, terms: readonly WeightedTerm[], seqs: readonly number[]): Promise<EmbedReply> {
    return this.#one(embedRead(this, terms, seqs), shard);
  }

  /** Stored documents in the order of `seqs`; a document is empty when the shard does not have it. */
  fetch(shard: number, seqs: readonly number[], options: FetchOptions): Promise<FetchedDocument[]> {
    return this.#one(fetchRead(this, seqs, options), shard);
  }

  /** Ascending sequence numbers of a shard's documents after `afterSeq`, at most `limit`. */
  seqsAfter(shard: number, afterSeq: number, limit: number): Promise<number[]> {
    const { data: uid, generation } = this;
    const message = encodeAllSeqs({ uid, generation, afterSeq, limit });
    return this.#one(messageRead(this, message, decodeAllSeqsReply), shard);
  }

  /** Documents as NDJSON lines, of as many seqs as the shard likes to send at once. */
  exportLines(shard: number, seqs: readonly number[]): Promise<ExportLines> {
    const message = encodeExport({ uid: this.data, seqs: [...seqs] });
    return this.#one(messageRead(this, message, decodeExportReply), shard);
  }

  #program<T>(
    kind: SnapshotQuestion,
    program: Uint8Array,
    asked: unknown,
    decode: (result: Uint8Array) => T,
  ): ProgramRead<T> {
    const subject = subjectOf(kind, this, asked);
    return { kind, of: this, subject, program, deadline: this.deadline, decode };
  }

  /** The answers of all shards, by their numbers. */
  async #all<T>(read: ShardRead<T>): Promise<T[]> {
    return gathered(this.#reader.read(read, this.places));
  }

  /** The answer of one shard. */
  #one<T>(read: ShardRead<T>, shard: number): Promise<T> {
    const shards = this.shards === 1 ? this.places : [this.places[shard]!];
    const answer = this.#reader.read(read, shards)[0] as T | Promise<T>;
    return answer instanceof Promise ? answer : Promise.resolve(answer);
  }
}

/** Stays empty. */
const NO_DOCUMENTS = new Map<number, FetchedDocument>();
const NO_SEQS = new Float64Array(0);

/** No promise when all answers are there already. */
function gathered<T>(answers: (T | Promise<T>)[]): T[] | Promise<T[]> {
  return answers.some(isPromise) ? Promise.all(answers) : (answers as T[]);
}

function isPromise(answer: unknown): boolean {
  return answer instanceof Promise;
}
