// Messages between the owner and a front-end. All are plain objects that can be posted. Most searches need
// none of them.
import type { MessagePort } from "node:worker_threads";
import type { EngineParts } from "../../../engine-wasm/host/instance/engine-module.js";
import type { ShardPorts } from "../../../shards/protocol/memory-loans.js";
import type { NewEntry } from "../../access/audit/entry.js";
import type { CertificatePair } from "../../access/edge/certificate.js";
import type { ProxySetting } from "../../access/edge/client-address.js";
import type { HeaderLines } from "../../access/edge/headers.js";
import type { CatalogState, Command } from "../../catalog/state.js";
import type { RecorderValues } from "../../ground/metrics/recorder-values.js";
import type { Config } from "../../operate/config/config.js";
import type { Popular } from "../../query-log/reports/popular.js";
import type { SharedCounts } from "../thread-counts.js";
import type { HttpTransport } from "../transport/listen.js";
import type { WarmUpWanted } from "../warm-up-run.js";
import type { CarriedError } from "./channel.js";

/** A configuration without the values that only the owner uses, some of which cannot be posted. */
export interface PostedConfig extends Omit<Config, "trustProxy" | "ai"> {
  readonly trustProxy: ProxySetting;
  readonly ai: Omit<Config["ai"], "coach">;
}

/** Memory shared by all threads that handle requests. */
export interface SharedMemories {
  readonly counts: SharedCounts;
  /** See ShardGate. */
  readonly gate: SharedArrayBuffer;
  /** See Pulse. */
  readonly pulse: SharedArrayBuffer;
}

/** A front-end's `workerData`: everything that its thread needs to start. */
export interface FrontEndData {
  /** The front-end's end of its channel to the owner. */
  readonly owner: MessagePort;
  /** This front-end's slot among the threads that read indexes; see IndexStanding. */
  readonly place: number;
  /** Number of threads that read indexes. */
  readonly places: number;
  readonly config: PostedConfig;
  readonly transport: HttpTransport;
  readonly adminKey: string;
  readonly engine: EngineParts;
  readonly shards: number;
  readonly catalog: { readonly state: CatalogState; readonly damagedIndexes: number };
  readonly certificate: CertificatePair | null;
  readonly shared: SharedMemories;
  /** Size of its heap in bytes at which the thread ends itself. */
  readonly heapBytesMax: number;
  /** Data numbers of indexes that front-ends must not read locally; see FrontEndCalls.leaveToShards. */
  readonly leftToShards: readonly number[];
}

/** Method, URL, address and headers of a request that is forwarded to the owner. */
export interface ForwardedHead {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  /** The values of READ_HEADERS, in the same order. */
  readonly headers: readonly string[];
}

/** Calls and notices from a front-end, answered by the owner. */
export type OwnerCalls = {
  /** Reports that the front-end is listening on `port`. */
  listening(port: number): void;
  /** Reports the front-end's metric values one last time, because its thread is about to end. */
  lastCounted(values: RecorderValues): void;
  /**
   * Returns the shared memory with an index's standing (IndexStanding). Also begins one use of the index on
   * behalf of the front-end, which must end that use. Throws SkeinError.
   */
  attach(uid: number): SharedArrayBuffer;
  /** Opens the index if it is not open yet. Resolves when it is open. */
  open(uid: number): Promise<void>;
  /**
   * Reads from a shard on behalf of the front-end, whose own reads are stopped while the shard's gate is
   * closed. Returns the shard's reply.
   */
  read(asked: {
    readonly shard: number;
    readonly tenant: number;
    readonly request: Uint8Array;
    readonly subject: string;
  }): Promise<Uint8Array>;
  /**
   * Reports a read that was running on this front-end when the shard's thread or engine ended, so that the
   * read becomes a suspect.
   */
  blame(read: {
    readonly shard: number;
    readonly subject: string;
    readonly life: number | null;
    readonly error: CarriedError;
  }): void;
  /** Reports damaged data that the front-end found in an index. */
  damaged(found: {
    readonly shard: number;
    readonly code: string;
    readonly message: string;
    readonly uid: number;
  }): void;
  /**
   * Appends `chunk`, which contains encoded rows, to the query log. Resolves with false if the chunk could
   * not be stored.
   */
  append(chunk: Uint8Array): Promise<boolean>;
  /**
   * Returns an index's popular queries and documents. Returns null if the index is gone, or if `known` is
   * true and the front-end's copy is current.
   */
  popular(asked: { readonly uid: number; readonly known: boolean }): Popular | null;
  keyUsed(use: { readonly keyId: number; readonly nowMs: number }): void;
  audit(entry: NewEntry): Promise<void>;
  /**
   * Starts a forwarded request. `body` messages follow with its body, then `bodyEnded`, with an error if the
   * body was cut off.
   */
  request(head: ForwardedHead): void;
  body(piece: { readonly id: number; readonly bytes: Uint8Array }): void;
  bodyEnded(end: { readonly id: number; readonly error: CarriedError | null }): void;
  /** Reports that the client has disconnected or that the rest of the reply is not needed. */
  aborted(id: number): void;
  /** Acknowledges that the client has received bytes of a streamed reply, so that the owner may send more. */
  taken(part: { readonly id: number; readonly bytes: number }): void;
};

/** Calls and notices from the owner, answered by a front-end. */
export type FrontEndCalls = {
  /** Starts answering requests. */
  serve(_: null): void;
  /** Applies a catalog change to the front-end's copy of the catalog. Resolves once it is applied. */
  changed(command: Command): void;
  /** Applies new settings. Resolves once they are in effect. */
  settings(config: PostedConfig): void;
  certificate(pair: CertificatePair): void;
  shardBegan(shard: { readonly shard: number; readonly life: number; readonly ports: ShardPorts }): void;
  /**
   * Reports that a shard's thread has ended. Resolves when this front-end no longer reads the thread's memory
   * and has reported to the owner all reads that were running there.
   */
  shardEnded(shard: number): Promise<void>;
  /** Returns the front-end's current metric values. */
  counted(_: null): RecorderValues;
  /** Resolves when all query log rows written so far have been sent to the owner. */
  flushLog(_: null): Promise<void>;
  /**
   * Tells this front-end not to read an index locally for `ms` milliseconds, because such a read has made
   * some front-end hang. `data` is the data number of the index's documents.
   */
  leaveToShards(documents: { readonly data: number; readonly ms: number }): void;
  /** Warms the front-end up. Returns the number of queries that it has answered. */
  warmUp(wanted: WarmUpWanted): Promise<number>;
  /** Refuses new requests and new connections from now on. */
  stopAccepting(_: null): void;
  /** See HttpService.drain. */
  drain(ms: number): Promise<void>;
  /** Closes all connections and ends the thread. */
  close(_: null): void;
  /**
   * Acknowledges that the owner has consumed bytes of a request body, so that the front-end may send more.
   */
  bodyTaken(part: { readonly id: number; readonly bytes: number }): void;
  /** Replies to a request. If `body` is null, the body follows in pieces. */
  reply(reply: {
    readonly id: number;
    readonly status: number;
    readonly headers: HeaderLines;
    readonly body: string | Uint8Array | null;
  }): void;
  piece(piece: { readonly id: number; readonly bytes: Uint8Array }): void;
  /** Ends a streamed reply. If `cut` is true, the reply is incomplete and the connection is closed. */
  replyEnded(end: { readonly id: number; readonly cut: boolean }): void;
};
