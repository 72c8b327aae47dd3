// The interface through which a thread reads indexes. `reads/thread-reader.ts` implements it with messages to
// the shards' threads; `local/local-reader.ts` reads the shards' memories on this thread.
import type { SnapshotQuestion } from "../../engine-wasm/host/wasm/memory.js";
import { decodeFetchReply, type FetchedDocument, type FetchOptions } from "../../shards/protocol/fetch.js";
import {
  decodeEmbedReply,
  decodeSimilaritiesReply,
  type EmbedReply,
  type WeightedTerm,
} from "../../shards/protocol/vectors.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Places } from "../catalog/schema/placement.js";
import type { RequestLife } from "../ground/jobs/request-life.js";
import type { Subject } from "./threads/isolation.js";
import type { OwnSlices } from "./threads/tenant-slices.js";

/** The tenant and the request on whose behalf something is read. */
export interface Requester {
  /** The read is charged to this tenant's share of shard time. */
  readonly tenant: number;
  /** The request's time slices on this thread. */
  readonly slices: OwnSlices;
  /** The read ends with this life. */
  readonly life: RequestLife;
}

/** One index at one generation. */
export interface AskedSnapshot extends Requester {
  readonly record: IndexRecord;
  /** See Location.data. */
  readonly data: number;
  readonly generation: number;
  /** Lowest generation that any read still needs. Shards may drop data that only older ones need. */
  readonly oldestGeneration: number;
}

/** A read that runs an engine program and gets the engine's result. */
export interface ProgramRead<T> {
  readonly kind: SnapshotQuestion;
  readonly of: AskedSnapshot;
  /** What the program asks for; describes the read in the quarantine. */
  readonly asked: unknown;
  readonly program: Uint8Array;
  /** Time in Date.now() milliseconds after which the reply is useless. */
  readonly deadline: number;
  readonly decode: (result: Uint8Array) => T | Promise<T>;
}

/** Rows of a search result, and which parts of their documents to send. */
export interface PageWanted {
  readonly offset: number;
  readonly count: number;
  readonly options: FetchOptions;
}

/**
 * A search that also requests the documents of some of its rows. The reader may return the result without
 * documents.
 */
export interface PageRead<T> {
  readonly kind: "page";
  readonly of: AskedSnapshot;
  readonly asked: unknown;
  readonly program: Uint8Array;
  readonly deadline: number;
  /** The rows whose documents to send. */
  wanted(): PageWanted;
  /** Takes a shard's result, and the documents that came with it. */
  decode(result: Uint8Array, documents: readonly FetchedDocument[]): T | Promise<T>;
}

interface FetchRead<T> {
  readonly kind: "fetch";
  readonly of: AskedSnapshot;
  readonly seqs: readonly number[];
  readonly options: FetchOptions;
  readonly decode: (reply: Uint8Array) => T;
}

interface EmbedRead<T> {
  readonly kind: "embed";
  readonly of: AskedSnapshot;
  readonly terms: readonly WeightedTerm[];
  readonly seqs: readonly number[];
  readonly decode: (reply: Uint8Array) => T;
}

interface SimilaritiesRead<T> {
  readonly kind: "similarities";
  readonly of: AskedSnapshot;
  readonly query: Float32Array;
  readonly seqs: ArrayLike<number>;
  readonly decode: (reply: Uint8Array) => T;
}

/**
 * A read that only a shard's thread can answer. The message's bytes must not change until the reply has
 * arrived.
 */
interface MessageRead<T> {
  readonly kind: "message";
  readonly of: Requester;
  readonly subject: Subject | undefined;
  readonly message: Uint8Array<ArrayBuffer>;
  readonly decode: (reply: Uint8Array) => T;
}

/** A read: the request and the decoder for its reply. */
export type ShardRead<T> =
  | ProgramRead<T>
  | PageRead<T>
  | FetchRead<T>
  | EmbedRead<T>
  | SimilaritiesRead<T>
  | MessageRead<T>;

export interface ShardReader {
  /**
   * Returns the decoded replies in shard order, each as a value or a promise. The caller must await every
   * promise; it rejects with a SkeinError if its shard refuses the read or its thread ends. Only programs and
   * pages may be sent to several shards.
   */
  read<T>(read: ShardRead<T>, shards: Places): (T | Promise<T>)[];
}

/**
 * Reads stored documents from one shard, in the order of `seqs`. If the shard does not have a document, its
 * entry is empty.
 */
export function fetchRead(
  of: AskedSnapshot,
  seqs: readonly number[],
  options: FetchOptions,
): FetchRead<FetchedDocument[]> {
  return { kind: "fetch", of, seqs, options, decode: decodeFetchReply };
}

/**
 * Reads the query vector that a shard's model computes from the terms, and the vectors of some of the shard's
 * documents.
 */
export function embedRead(
  of: AskedSnapshot,
  terms: readonly WeightedTerm[],
  seqs: readonly number[],
): EmbedRead<EmbedReply> {
  return { kind: "embed", of, terms, seqs, decode: decodeEmbedReply };
}

/**
 * Reads the cosine similarity between the query and each of these documents of one shard; NaN for a document
 * without a vector.
 */
export function similaritiesRead(
  of: AskedSnapshot,
  query: Float32Array,
  seqs: ArrayLike<number>,
): SimilaritiesRead<Float32Array> {
  return { kind: "similarities", of, query, seqs, decode: decodeSimilaritiesReply };
}

/** A read whose request is an encoded message. */
export function messageRead<T>(
  of: Requester,
  message: Uint8Array<ArrayBuffer>,
  decode: (reply: Uint8Array) => T,
  subject?: Subject,
): MessageRead<T> {
  return { kind: "message", of, subject, message, decode };
}

/** Identifies the read in the quarantine. Undefined if the read cannot end a shard's thread. */
export function subjectOfRead<T>(read: ShardRead<T>): Subject | undefined {
  switch (read.kind) {
    case "message":
      return read.subject;
    case "embed":
    case "similarities":
      return undefined;
    case "fetch":
      return subjectOf("fetch", read.of, [read.seqs, { ...read.options, bytesMax: undefined }]);
    default:
      return subjectOf(read.kind === "page" ? "search" : read.kind, read.of, read.asked);
  }
}

/**
 * Describes a read for the quarantine. Fractional numbers are left out: they are weights, and since weights
 * change with every write, the same query would not be recognised again.
 */
export function subjectOf(
  kind: string,
  { record: { uid } }: Pick<AskedSnapshot, "record">,
  asked: unknown,
): Subject {
  return () => `${kind} ${uid} ${JSON.stringify(asked, steady)}`;
}

function steady(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const held = this[name]; // `value` is not a Buffer itself, but what its toJSON has made of it
  if (held instanceof Uint8Array) return Buffer.from(held).toString("base64");
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" && !Number.isInteger(value) ? null : value;
}
