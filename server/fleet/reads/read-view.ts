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
import {
  decodeFetchReply,
  encodeFetch,
  type FetchedDocument,
  type FetchOptions,
} from "../../../shards/protocol/fetch.js";
import { decodePageReply, encodePage } from "../../../shards/protocol/page.js";
import {
  decodeResult,
  encodeCompanyRequest,
  encodeExpandRequest,
  encodeExplainRequest,
  encodeNearestRequest,
  encodeSearchRequest,
  type ProgramRequest,
} from "../../../shards/protocol/program.js";
import {
  decodeEmbedReply,
  decodeSimilaritiesReply,
  type EmbedReply,
  encodeEmbed,
  encodeSimilarities,
  type WeightedTerm,
} from "../../../shards/protocol/vectors.js";
import type { Places } from "../../catalog/schema/placement.js";
import type { QueryTrace } from "../../ground/metrics/query-trace.js";
import type { ExpansionCache } from "../../question/words/expansion-cache.js";
import type { FetchThere } from "../local/local-documents.js";
import type { EmbedThere, LocalReads, LocalView } from "../local/local-reads.js";
import { type Subject, subjectOf } from "../threads/quarantine.js";
import { lateSearch } from "../threads/shard-errors.js";
import type { Message } from "../threads/shard-pool.js";
import { inTurns } from "../threads/tenant-turns.js";
import type { Question, RememberedAnswer } from "./answer-cache.js";
import { likelyRows, type PageWanted } from "./likely-rows.js";
import type { ReadIndex, Remembered } from "./read-index.js";

export interface FoundPage {
  /** One result per shard, by its number. */
  readonly results: readonly SearchResult[];
  /** By seq. */
  readonly documents: ReadonlyMap<number, FetchedDocument>;
}

/** One request to one shard, its reply decoded; a refusal of the shard becomes a SkeinError. */
export type CallShard = <T>(
  shard: number,
  request: Message,
  decode: (reply: Uint8Array) => T | Promise<T>,
  /** What is asked, see quarantine.ts. */
  subject?: Subject,
) => Promise<T>;

/** How a view comes to what it reads. */
export interface ReadWays {
  readonly call: CallShard;
  /** For small indexes. */
  readonly local: LocalReads;
}

export class ReadView implements LocalView {
  readonly generation: number;
  readonly data: number;
  readonly places: Places;
  readonly deadline: number;
  /** Whose phases the questions belong to. */
  readonly trace: QueryTrace | undefined;
  readonly #index: ReadIndex;
  /** As of the beginning: what was forgotten since then must not come back. */
  readonly #remembered: Remembered | null;
  readonly #call: CallShard;
  /** Null for a large index. */
  readonly #local: LocalReads | null;
  /** See TenantTurns. */
  readonly nextTurn: () => Promise<void>;
  readonly #onReleased: () => void;
  #released = false;

  /** `deadline`: Date.now() after which searches end with SK-SE-503. */
  constructor(
    index: ReadIndex,
    { call, local }: ReadWays,
    nextTurn: () => Promise<void>,
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
    this.#call = (shard, ...request) => call(places[shard]!, ...request);
    this.#local = local.takes(index.documents) ? local : null;
    this.nextTurn = nextTurn;
    this.deadline = deadline;
    this.#onReleased = onReleased;
    this.trace = trace;
    if (trace !== undefined) trace.shards = this.shards;
  }

  /** In how many shards the index lies. They are numbered from 0 on here, whichever of the server's they are. */
  get shards(): number {
    return this.places.length;
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

  /** The answer that was made from this view. */
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
    return this.#answers(
      "expand",
      encodeExpand(program),
      encodeExpandRequest,
      (result) => decodeExpandResult(result, program),
      this.#subject("expand", program),
    );
  }

  /** In how many documents of each shard the words and candidates stand together, by the shard's number. */
  company(program: CompanyProgram): Promise<CompanyResult[]> {
    return this.#answers(
      "company",
      encodeCompany(program),
      encodeCompanyRequest,
      (result) => decodeCompanyResult(result, program),
      this.#subject("company", program),
    );
  }

  /** One result per shard, by its number. */
  search(program: SearchProgram): Promise<SearchResult[]> {
    this.trace?.enter("search");
    const asked = this.#asked(program);
    return this.#answers(
      "search",
      encodeSearch(asked),
      encodeSearchRequest,
      (result) => finished(decodingOfSearchResult(result, asked)),
      this.#subject("search", asked),
    );
  }

  /**
   * `search`, and with it the documents of those rows of each shard that are likely to be on the page: with one shard
   * all of them, with several most; the others are to be fetched. Those of a small index are fetched where they are needed.
   */
  async searchPage(program: SearchProgram, page: PageWanted): Promise<FoundPage> {
    this.trace?.enter("search");
    const asked = this.#asked(program);
    const encoded = encodeSearch(asked);
    const known = this.#local?.everywhere(this, "search", encoded) ?? null;
    if (known !== null) {
      const results: SearchResult[] = [];
      for (const result of known)
        results.push(await inTurns(decodingOfSearchResult(result, asked), this.nextTurn));
      return { results, documents: NO_DOCUMENTS };
    }
    const window = likelyRows(page, this.shards);
    const request = encodePage({ ...this.#request(encoded), ...window, options: page.options });
    const documents = new Map<number, FetchedDocument>();
    const results = await this.#askAll(
      request,
      async (reply) => {
        const { result, documents: sent } = decodePageReply(reply);
        const found = await inTurns(decodingOfSearchResult(result, asked), this.nextTurn);
        const seqs = seqsOfResult(result, window.offset, sent.length);
        for (const [i, document] of sent.entries()) documents.set(seqs[i]!, document);
        return found;
      },
      this.#subject("search", asked),
    );
    return { results, documents };
  }

  /** The sequence numbers of the rows of one shard, in the order of its result. */
  seqsFound(shard: number, program: SearchProgram): Promise<Float64Array> {
    const decode = (result: Uint8Array) => seqsOfResult(result, 0, Number.POSITIVE_INFINITY);
    const encoded = encodeSearch(program);
    return this.#answer(
      "search",
      shard,
      encoded,
      encodeSearchRequest,
      decode,
      this.#subject("search", program),
    );
  }

  /**
   * Why rows of one shard stand where the program puts them, in the order of `seqs`; null for a row that is not in
   * the result.
   */
  explain(shard: number, program: SearchProgram, seqs: readonly number[]): Promise<(ExplainedRow | null)[]> {
    const decode = (result: Uint8Array) => decodeExplainResult(result, program, seqs);
    const encoded = encodeExplain(program, seqs);
    const subject = this.#subject("explain", [program, seqs]);
    return this.#answer("explain", shard, encoded, encodeExplainRequest, decode, subject);
  }

  /**
   * By shard: the documents among those that pass the program whose codes are most similar to that of the query, most
   * similar first.
   */
  nearest(program: SearchProgram, query: Float32Array, wanted: number): Promise<NearestResult[]> {
    return this.#answers(
      "nearest",
      encodeNearest(query, wanted, encodeSearch(program)),
      encodeNearestRequest,
      decodeNearestResult,
      this.#subject("nearest", [program, wanted]),
    );
  }

  /** Cosines of the query and documents of a shard; NaN for a document without a vector. */
  async similarities(shard: number, query: Float32Array, seqs: ArrayLike<number>): Promise<Float32Array> {
    const uid = this.data;
    const there = this.#embedThere(shard);
    const known = await this.#local?.similarities(this, shard, query, seqs, there);
    return known ?? this.#call(shard, encodeSimilarities({ uid, query, seqs }), decodeSimilaritiesReply);
  }

  /** What a shard's model says of terms, and the vectors of some of its documents. */
  async embed(shard: number, terms: readonly WeightedTerm[], seqs: readonly number[]): Promise<EmbedReply> {
    const there = this.#embedThere(shard);
    return (await this.#local?.embed(this, shard, terms, seqs, there)) ?? there(terms, seqs);
  }

  #embedThere(shard: number): EmbedThere {
    const uid = this.data;
    return (terms, seqs) => this.#call(shard, encodeEmbed({ uid, terms, seqs }), decodeEmbedReply);
  }

  /** Stored documents in the order of `seqs`; a document is empty when the shard does not have it. */
  fetch(shard: number, seqs: readonly number[], options: FetchOptions): Promise<FetchedDocument[]> {
    const fetchThere: FetchThere = (some, wanted) => this.#fetchThere(shard, some, wanted);
    if (this.#local === null) return fetchThere(seqs, options);
    return this.#local.documents.show(this.#index.record, seqs, options, fetchThere);
  }

  #fetchThere(shard: number, seqs: readonly number[], options: FetchOptions): Promise<FetchedDocument[]> {
    const request = encodeFetch({ uid: this.data, seqs: [...seqs], ...options });
    return this.#call(
      shard,
      request,
      decodeFetchReply,
      this.#subject("fetch", [seqs, { ...options, bytesMax: undefined }]),
    );
  }

  /** Ascending sequence numbers of a shard's documents after `afterSeq`, at most `limit`. */
  seqsAfter(shard: number, afterSeq: number, limit: number): Promise<number[]> {
    const uid = this.data;
    return this.#call(
      shard,
      encodeAllSeqs({ uid, generation: this.generation, afterSeq, limit }),
      decodeAllSeqsReply,
    );
  }

  /** Documents as NDJSON lines, of as many seqs as the shard likes to send at once. */
  exportLines(shard: number, seqs: readonly number[]): Promise<ExportLines> {
    return this.#call(shard, encodeExport({ uid: this.data, seqs: [...seqs] }), decodeExportReply);
  }

  /** A single shard sends the top values of a facet. Each of several sends as many as it takes to find the top values of the sums. */
  #asked(program: SearchProgram): SearchProgram {
    if (this.shards > 1 || program.facets.length === 0) return program;
    return { ...program, facets: program.facets.map((facet) => ({ ...facet, share: false })) };
  }

  /** What a shard answers to an encoded program. */
  async #answer<T>(
    question: SnapshotQuestion,
    shard: number,
    program: Uint8Array,
    encode: (request: ProgramRequest) => Message,
    decode: (result: Uint8Array) => T,
    subject: Subject,
  ): Promise<T> {
    const known = this.#local?.one(this, shard, question, program) ?? null;
    if (known !== null) return decode(known);
    const request = encode(this.#request(program));
    return this.#call(shard, request, (reply) => decode(decodeResult(reply)), subject);
  }

  /** What each shard answers to an encoded program, by its number. */
  async #answers<T>(
    question: SnapshotQuestion,
    program: Uint8Array,
    encode: (request: ProgramRequest) => Message,
    decode: (result: Uint8Array) => T,
    subject: Subject,
  ): Promise<T[]> {
    const known = this.#local?.everywhere(this, question, program) ?? null;
    if (known !== null) return known.map(decode);
    return this.#askAll(encode(this.#request(program)), (reply) => decode(decodeResult(reply)), subject);
  }

  #request(program: Uint8Array): ProgramRequest {
    const { data: uid, generation, oldestGeneration, deadline } = this;
    return { uid, generation, oldestGeneration, deadline, program };
  }

  #subject(kind: string, asked: unknown): Subject {
    return subjectOf(kind, this.#index.record.uid, asked);
  }

  /** Late answers are not read: many large ones would keep this thread from the searches that are in time. */
  #askAll<T>(
    request: Message,
    decode: (reply: Uint8Array) => T | Promise<T>,
    subject: Subject,
  ): Promise<T[]> {
    const inTime = (reply: Uint8Array): T | Promise<T> => {
      if (Date.now() > this.deadline) throw lateSearch();
      return decode(reply);
    };
    const answers: Promise<T>[] = [];
    for (let shard = 0; shard < this.shards; shard++)
      answers.push(this.#call(shard, request, inTime, subject));
    return Promise.all(answers);
  }
}

const NO_DOCUMENTS: ReadonlyMap<number, FetchedDocument> = new Map();
