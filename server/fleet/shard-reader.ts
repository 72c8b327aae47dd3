// The port through which everything of an index is read from its shards. `reads/thread-reader.ts` implements
// it with messages, `local/local-reader.ts` with reads in the shards' memories on this thread.
import type { SnapshotQuestion } from "../../engine-wasm/host/wasm/memory.js";
import { decodeFetchReply, type FetchedDocument, type FetchOptions } from "../../shards/protocol/fetch.js";
import type { PageReply } from "../../shards/protocol/page.js";
import {
  decodeEmbedReply,
  decodeSimilaritiesReply,
  type EmbedReply,
  type WeightedTerm,
} from "../../shards/protocol/vectors.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Places } from "../catalog/schema/placement.js";
import type { Subject } from "./threads/isolation.js";

/** For whom a read is done. */
export interface Requester {
  /** The tenant whose share of the shard's thread the read uses. */
  readonly tenant: number;
  /** Waits for the tenant's next time slice on this thread. */
  readonly nextSlice: () => Promise<void>;
}

/** One index as of one generation. */
export interface AskedSnapshot extends Requester {
  readonly record: IndexRecord;
  /** Number of the index's documents in the shards. */
  readonly data: number;
  readonly generation: number;
  /** The lowest generation that any read still needs. */
  readonly oldestGeneration: number;
}

interface Read {
  readonly of: AskedSnapshot;
  /** Undefined for a read that is never suspected of ending a shard's thread. */
  readonly subject: Subject | undefined;
}

/** An engine program, answered with the engine's result. */
export interface ProgramRead<T> extends Read {
  readonly kind: SnapshotQuestion;
  readonly program: Uint8Array;
  /** Date.now() after which nobody wants the answer. */
  readonly deadline: number;
  readonly decode: (result: Uint8Array) => T | Promise<T>;
}

/** A search, and the documents of some of its rows if the reader can send them along. */
export interface PageRead<T> extends Read {
  readonly kind: "page";
  readonly program: Uint8Array;
  readonly deadline: number;
  readonly offset: number;
  readonly count: number;
  readonly options: FetchOptions;
  readonly decode: (page: PageReply) => T | Promise<T>;
}

interface FetchRead<T> extends Read {
  readonly kind: "fetch";
  readonly seqs: readonly number[];
  readonly options: FetchOptions;
  readonly decode: (reply: Uint8Array) => T;
}

interface EmbedRead<T> extends Read {
  readonly kind: "embed";
  readonly terms: readonly WeightedTerm[];
  readonly seqs: readonly number[];
  readonly decode: (reply: Uint8Array) => T;
}

interface SimilaritiesRead<T> extends Read {
  readonly kind: "similarities";
  readonly query: Float32Array;
  readonly seqs: ArrayLike<number>;
  readonly decode: (reply: Uint8Array) => T;
}

/** A message that only a shard's thread answers. Its bytes must not change until the reply has come. */
interface MessageRead<T> {
  readonly kind: "message";
  readonly of: Requester;
  readonly subject: Subject | undefined;
  readonly message: Uint8Array<ArrayBuffer>;
  readonly decode: (reply: Uint8Array) => T;
}

/** What is asked, and how an answer is decoded. */
export type ShardRead<T> =
  | ProgramRead<T>
  | PageRead<T>
  | FetchRead<T>
  | EmbedRead<T>
  | SimilaritiesRead<T>
  | MessageRead<T>;

export interface ShardReader {
  /**
   * The decoded answers of the shards, in their order, each at once or as a promise. Each promise must be
   * awaited; it rejects with a SkeinError if its shard refuses the read or ends. Only programs and pages may
   * be asked of several shards.
   */
  read<T>(read: ShardRead<T>, shards: Places): (T | Promise<T>)[];
}

/** Stored documents of one shard, in the order of `seqs`; one that the shard does not have is empty. */
export function fetchRead(
  of: AskedSnapshot,
  seqs: readonly number[],
  options: FetchOptions,
): FetchRead<FetchedDocument[]> {
  const subject = subjectOf("fetch", of, [seqs, { ...options, bytesMax: undefined }]);
  return { kind: "fetch", of, subject, seqs, options, decode: decodeFetchReply };
}

/** The vector that a shard's model gives these terms, and the vectors of some of its documents. */
export function embedRead(
  of: AskedSnapshot,
  terms: readonly WeightedTerm[],
  seqs: readonly number[],
): EmbedRead<EmbedReply> {
  return { kind: "embed", of, subject: undefined, terms, seqs, decode: decodeEmbedReply };
}

/** Cosines of the query and documents of one shard; NaN for a document without a vector. */
export function similaritiesRead(
  of: AskedSnapshot,
  query: Float32Array,
  seqs: ArrayLike<number>,
): SimilaritiesRead<Float32Array> {
  return { kind: "similarities", of, subject: undefined, query, seqs, decode: decodeSimilaritiesReply };
}

/** What the thread of a shard answers to a message. */
export function messageRead<T>(
  of: Requester,
  message: Uint8Array<ArrayBuffer>,
  decode: (reply: Uint8Array) => T,
  subject?: Subject,
): MessageRead<T> {
  return { kind: "message", of, subject, message, decode };
}

/**
 * The subject of a read of an index. Fractions are left out: they are weights, which change with every write.
 */
export function subjectOf(
  kind: string,
  { record: { uid } }: Pick<AskedSnapshot, "record">,
  asked: unknown,
): Subject {
  return () => `${kind} ${uid} ${JSON.stringify(asked, steady)}`;
}

function steady(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" && !Number.isInteger(value) ? null : value;
}
