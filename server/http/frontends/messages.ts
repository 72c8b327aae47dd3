// Messages between the owner and a front-end. All are plain objects that can be posted. A search needs very
// few of them.
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
import type { CarriedError } from "./channel.js";

/** A configuration without the parts that only the owner uses. Some of these parts cannot be posted. */
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

/** The data that a front-end starts with. */
export interface FrontEndData {
  /** The front-end's end of its channel to the owner. */
  readonly owner: MessagePort;
  /** This front-end's number among the threads that read indexes. See IndexStanding. */
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
  /** Data numbers of indexes that must not be read locally. See FrontEndCalls.leaveToShards. */
  readonly leftToShards: readonly number[];
}

/** The head of a request forwarded to the owner. */
export interface ForwardedHead {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  /** The values of READ_HEADERS, in the same order. */
  readonly headers: readonly string[];
}

/** Calls answered by the owner. */
export type OwnerCalls = {
  /** Reports that the front-end is listening. */
  listening(port: number): void;
  /**
   * Returns an index's standing and begins one use on behalf of the front-end, which must end that use.
   * Throws SkeinError.
   */
  attach(uid: number): SharedArrayBuffer;
  /** Resolves when the index is open. */
  open(uid: number): Promise<void>;
  /** Sends a read to a shard whose gate is closed, and returns the shard's reply. */
  read(asked: {
    readonly shard: number;
    readonly tenant: number;
    readonly request: Uint8Array;
    readonly subject: string;
  }): Promise<Uint8Array>;
  /** Reports a read that was running on this front-end when a thread or an engine ended. */
  blame(read: {
    readonly shard: number;
    readonly subject: string;
    readonly life: number | null;
    readonly error: CarriedError;
  }): void;
  /** Reports damage in an index. */
  damaged(found: {
    readonly shard: number;
    readonly code: string;
    readonly message: string;
    readonly uid: number;
  }): void;
  /** Appends rows to the query log. Resolves with false if the disk refused them. */
  append(chunk: Uint8Array): Promise<boolean>;
  /**
   * Returns an index's popular queries and documents, or null if the index is gone or the front-end's copy is
   * current.
   */
  popular(asked: { readonly uid: number; readonly known: boolean }): Popular | null;
  keyUsed(use: { readonly keyId: number; readonly nowMs: number }): void;
  audit(entry: NewEntry): Promise<void>;
  /** Starts a request. The body's pieces follow, then the end of the body or the error that cut it off. */
  request(head: ForwardedHead): void;
  body(piece: { readonly id: number; readonly bytes: Uint8Array }): void;
  bodyEnded(end: { readonly id: number; readonly error: CarriedError | null }): void;
  /** Reports that the client has disconnected or that the rest of the reply is not needed. */
  aborted(id: number): void;
  /** Acknowledges bytes of a streamed reply, so that the owner may send more. */
  taken(part: { readonly id: number; readonly bytes: number }): void;
};

/** Calls answered by a front-end. */
export type FrontEndCalls = {
  /** Starts answering requests. */
  serve(_: null): void;
  /** Applies a change to the front-end's catalog. Resolves once it is applied. */
  changed(command: Command): void;
  /** Applies new settings. Resolves once they are in effect. */
  settings(config: PostedConfig): void;
  certificate(pair: CertificatePair): void;
  shardBegan(shard: { readonly shard: number; readonly life: number; readonly ports: ShardPorts }): void;
  /**
   * Reports that a shard's thread has ended. Resolves when this front-end no longer reads the thread's memory
   * and has reported all running reads to the owner.
   */
  shardEnded(shard: number): Promise<void>;
  /** Returns the current counts. */
  counted(_: null): RecorderValues;
  /** Resolves when all query log rows so far have been sent to the owner. */
  flushLog(_: null): Promise<void>;
  /**
   * Reports that a read of the index has made a front-end hang. For `ms` milliseconds, no front-end reads the
   * index locally.
   */
  leaveToShards(documents: { readonly data: number; readonly ms: number }): void;
  stopAccepting(_: null): void;
  /** Resolves when all running requests have been answered, or after `ms` milliseconds. */
  drain(ms: number): Promise<void>;
  /** Closes all connections and ends the thread. */
  close(_: null): void;
  /** Acknowledges bytes of a request body, so that the front-end may send more. */
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
