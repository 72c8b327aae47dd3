// What the owner and a front-end say to each other. All of it is objects that can be posted: next to none of it is said for a search.
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

/** A configuration that can be posted. What only the owner does is left out of it. */
export interface PostedConfig extends Omit<Config, "trustProxy" | "ai"> {
  readonly trustProxy: ProxySetting;
  readonly ai: Omit<Config["ai"], "coach">;
}

/** Memory that all threads share which take requests. */
export interface SharedMemories {
  readonly counts: SharedCounts;
  /** See ShardGate. */
  readonly gate: SharedArrayBuffer;
  /** See Pulse. */
  readonly pulse: SharedArrayBuffer;
}

/** What a front-end begins with. */
export interface FrontEndData {
  /** Its end of the channel to the owner. */
  readonly owner: MessagePort;
  /** Its number among the threads that read indexes; see IndexStanding. */
  readonly place: number;
  /** How many such threads there are. */
  readonly places: number;
  readonly config: PostedConfig;
  readonly transport: HttpTransport;
  readonly adminKey: string;
  readonly engine: EngineParts;
  readonly shards: number;
  readonly catalog: { readonly state: CatalogState; readonly damagedIndexes: number };
  readonly certificate: CertificatePair | null;
  readonly shared: SharedMemories;
  /** Indexes that are not to be read locally, see FrontEndCalls. */
  readonly leftToShards: readonly number[];
}

/** The head of a request whose answer is the owner's. */
export interface ForwardedHead {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  /** The values of READ_HEADERS. */
  readonly headers: readonly string[];
}

/** What the owner answers. */
export type OwnerCalls = {
  /** The front-end listens. */
  listening(port: number): void;
  /** Where an index stands. It counts as used by the front-end once, until that ends the use. Throws SkeinError. */
  attach(uid: number): SharedArrayBuffer;
  /** Resolves when the index is open. */
  open(uid: number): Promise<void>;
  /** A read of a shard whose gate is closed. */
  read(asked: {
    readonly shard: number;
    readonly tenant: number;
    readonly request: Uint8Array;
    readonly subject: string;
  }): Promise<Uint8Array>;
  /** A read that the front-end sent by itself was inside when a thread or an engine ended. */
  blame(read: {
    readonly shard: number;
    readonly subject: string;
    readonly life: number | null;
    readonly error: CarriedError;
  }): void;
  /** Damage of an index was met. */
  damaged(found: {
    readonly shard: number;
    readonly code: string;
    readonly message: string;
    readonly uid: number;
  }): void;
  /** Rows of the query log. False: the disk did not take them. */
  append(chunk: Uint8Array): Promise<boolean>;
  /** What is popular in an index; null: what this front-end was told last, and knows. */
  popular(asked: { readonly uid: number; readonly known: boolean }): Popular | null;
  keyUsed(use: { readonly keyId: number; readonly nowMs: number }): void;
  audit(entry: NewEntry): Promise<void>;
  /** A request comes, then its body in pieces and its end, or why there is none. */
  request(head: ForwardedHead): void;
  body(piece: { readonly id: number; readonly bytes: Uint8Array }): void;
  bodyEnded(end: { readonly id: number; readonly error: CarriedError | null }): void;
  /** The client has gone, or nobody wants the rest of the reply. */
  aborted(id: number): void;
  /** So many bytes of a streamed reply were taken. */
  taken(part: { readonly id: number; readonly bytes: number }): void;
};

/** What a front-end answers. */
export type FrontEndCalls = {
  /** Requests are answered from now on. */
  serve(_: null): void;
  /** Resolves when the front-end's catalog has the change. */
  changed(command: Command): void;
  /** Resolves when they are in force. */
  settings(config: PostedConfig): void;
  certificate(pair: CertificatePair): void;
  shardBegan(shard: { readonly shard: number; readonly life: number; readonly ports: ShardPorts }): void;
  /** Resolves when nothing is read any more that the shard's thread had, and the owner has heard of each read that was inside. */
  shardEnded(shard: number): Promise<void>;
  /** What has been counted so far. */
  counted(_: null): RecorderValues;
  /** Resolves when all rows of the query log so far have been sent. */
  flushLog(_: null): Promise<void>;
  /** A read of the index has kept a front-end busy for too long: for so many milliseconds none reads it locally. */
  leaveToShards(documents: { readonly data: number; readonly ms: number }): void;
  stopAccepting(_: null): void;
  /** Resolves when the requests inside are answered, or after so many milliseconds. */
  drain(ms: number): Promise<void>;
  /** Cuts all connections and ends the thread. */
  close(_: null): void;
  /** The owner wants more of a body: so many bytes were taken. */
  bodyTaken(part: { readonly id: number; readonly bytes: number }): void;
  /** The reply to a request; `body` null: it comes in pieces. */
  reply(reply: {
    readonly id: number;
    readonly status: number;
    readonly headers: HeaderLines;
    readonly body: string | Uint8Array | null;
  }): void;
  piece(piece: { readonly id: number; readonly bytes: Uint8Array }): void;
  /** The reply is complete; `cut`: the connection is to be cut instead. */
  replyEnded(end: { readonly id: number; readonly cut: boolean }): void;
};
