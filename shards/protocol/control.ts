// Control messages, which consist of an op byte, then msgpack. They are rare, so clarity matters more than
// speed.
//
//   OPEN {uid, schema, made, vectors, published} -> OpenReply
//   SCHEMA {uid, schema} -> {}   STATS {uid} -> IndexStats   VECTORS {uid, source, origin} -> {}
//   CLOSE {uid} -> {}   DROP {uid} -> {}   PING -> {}   SHUTDOWN -> {}
//   STANDING {uid, schemaVersion, made} -> Standing; does not open the index
//   PUBLISHED {uid, generation} -> {}   TAKE_BACK {uid, generation} -> {}
//   SIZE {uid} -> IndexSize; does not open the index
import { pack, unpack } from "msgpackr/pack";
import { type MessageReader, MessageWriter } from "./bytes.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Op } from "./ops.js";
import { encodeOk, openReply } from "./reply.js";

export interface ShardField {
  /** u16. Permanent number of the field in its index. */
  slot: number;
  name: string;
  /** A TYPE_* constant from engine-wasm/assembly/layout.ts. */
  type: number;
  /** A combination of FLAG_* constants from engine-wasm/assembly/layout.ts. */
  flags: number;
  /** Language number of the field's text (engine-wasm/host/stemmer.ts); 0 for none. */
  language: number;
}

export interface ShardSchema {
  /** Incremented with every change. Segments with a lower version are re-indexed in the background. */
  version: number;
  fields: ShardField[];
  analysis: { symbolsToIndex: string; tokenSeparators: string };
}

const SOURCES = ["none", "documents", "pushed", "endpoint"] as const;
export type VectorSource = (typeof SOURCES)[number];

export interface VectorPolicy {
  source: VectorSource;
  /**
   * The vectors' origin (see Space): vectors can be compared only if their origins are equal. Used for pushed
   * vectors and for vectors from an endpoint. The origin of a model's vectors is the model's number instead.
   */
  origin: number;
}

export interface SchemaRequest {
  uid: number;
  schema: ShardSchema;
}

export interface OpenRequest extends SchemaRequest {
  /**
   * True if every shard once had the index, so a shard without it has lost it. If false, opening creates a
   * missing index.
   */
  made: boolean;
  /** Source of the index's vectors. */
  vectors: VectorPolicy;
  /** The index's published generation. No write up to it is ever taken back. */
  published: number;
}

export interface StandingRequest {
  uid: number;
  /** The schema version that the index should have. */
  schemaVersion: number;
  /** See OpenRequest. */
  made: boolean;
}

export interface OpenReply {
  liveDocs: number;
  /** Largest sequence number ever committed here; 0 if none. Later sequence numbers must be larger. */
  maxSeq: number;
  /** Generation of the last committed write; 0 if none. */
  generation: number;
  /** Number of segments with an older schema version, which are waiting to be re-indexed. */
  staleSegments: number;
}

/** An index's state in one shard, as stored. */
export interface Standing extends OpenReply {
  /** The shard knows that every write up to this generation is published. */
  published: number;
  /** Later writes to several shards that this shard has stored, ascending by generation. */
  inDoubt: { generation: number; shards: number }[];
}

export interface IndexStats {
  liveDocs: number;
  /** Rows of deleted or replaced documents that no merge has removed yet. */
  deletedRows: number;
  segments: number;
  segmentBytes: number;
  /** Size of the WASM memory in bytes. */
  memoryBytes: number;
  /** Number of terms, summed over all segments. A term in two segments counts twice. */
  terms: number;
  /** Number of segments with an older schema version, which are waiting to be re-indexed. */
  staleSegments: number;
  /** True while any background work is running, such as a merge or a re-index. */
  merging: boolean;
  /** True if there may be work to do once the index is quiet. */
  maintenanceDue: boolean;
  /** Document bytes in requests waiting for their commit. */
  queuedBytes: number;
  /** Number of rows with a vector. */
  vectors: number;
  /** Number of documents whose vectors are still missing. */
  pending: number;
  /** Memory used by the codes that vector search compares. */
  codesBytes: number;
  /** Number of the embedded model; 0 for none. */
  modelNumber: number;
  modelBytes: number;
  /**
   * Number of documents in the index when the model was trained, and a fingerprint of the fields that it was
   * trained on.
   */
  modelDocuments: number;
  modelFields: number;
  /** Unix seconds. */
  modelTrainedAt: number;
  /** Training time in milliseconds. */
  modelTookMs: number;
}

/** Disk space and memory that an index uses. */
export interface IndexSize {
  /**
   * Approximate: includes deleted and replaced values until LevelDB compacts them, and excludes values that
   * are only in its log.
   */
  diskBytes: number;
  /** Size of the WASM memory; 0 if the index is not open. */
  memoryBytes: number;
}

type Fields = Record<string, unknown>;

function encode(op: Op, body: object): Uint8Array<ArrayBuffer> {
  const packed = pack(body);
  return new MessageWriter(1 + packed.length).u8(op).bytes(packed).finish();
}

/** Reads the rest of a message as a msgpack object. */
export function readObject(reader: MessageReader): Fields {
  let body: unknown;
  try {
    body = unpack(reader.rest());
  } catch (cause) {
    throw new ShardError(SHARD_BAD_MESSAGE, "not msgpack", { cause });
  }
  if (typeof body !== "object" || body === null) {
    throw new ShardError(SHARD_BAD_MESSAGE, "not a msgpack object");
  }
  return body as Fields;
}

function whole(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new ShardError(SHARD_BAD_MESSAGE, `${name} is not a whole number`);
  }
  return value;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new ShardError(SHARD_BAD_MESSAGE, `${name} is not a string`);
  return value;
}

/** Validates a schema read from a message or the database. */
export function checkSchema(value: unknown): ShardSchema {
  if (typeof value !== "object" || value === null) {
    throw new ShardError(SHARD_BAD_MESSAGE, "schema is not an object");
  }
  const schema = value as Fields;
  const { fields, analysis } = schema;
  if (!Array.isArray(fields) || typeof analysis !== "object" || analysis === null) {
    throw new ShardError(SHARD_BAD_MESSAGE, "schema without fields or analysis");
  }
  return {
    version: whole(schema, "version"),
    fields: fields.map((field: Fields) => ({
      slot: whole(field, "slot"),
      name: text(field, "name"),
      type: whole(field, "type"),
      flags: whole(field, "flags"),
      language: field.language === undefined ? 0 : whole(field, "language"), // version 0.1 did not store it
    })),
    analysis: {
      symbolsToIndex: text(analysis as Fields, "symbolsToIndex"),
      tokenSeparators: text(analysis as Fields, "tokenSeparators"),
    },
  };
}

export function encodeOpen(request: OpenRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.OPEN, request);
}

export function encodeSchema(request: SchemaRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.SCHEMA, request);
}

/** Decodes the payload of OPEN, which follows the op byte. */
export function decodeOpen(reader: MessageReader): OpenRequest {
  const fields = readObject(reader);
  return {
    ...schemaRequest(fields),
    made: fields.made === true,
    vectors: checkPolicy(fields.vectors),
    published: whole(fields, "published"),
  };
}

/** Decodes the payload of SCHEMA, which follows the op byte. */
export function decodeSchemaRequest(reader: MessageReader): SchemaRequest {
  return schemaRequest(readObject(reader));
}

function schemaRequest(fields: Fields): SchemaRequest {
  return { uid: whole(fields, "uid"), schema: checkSchema(fields.schema) };
}

function checkPolicy(value: unknown): VectorPolicy {
  const { source, origin } = (value ?? {}) as Partial<VectorPolicy>;
  if (source === undefined || !SOURCES.includes(source) || !Number.isSafeInteger(origin))
    throw new ShardError(SHARD_BAD_MESSAGE, "not a policy for vectors");
  return { source, origin: origin as number };
}

export function encodePolicy(uid: number, policy: VectorPolicy): Uint8Array<ArrayBuffer> {
  return encode(Op.VECTORS, { uid, ...policy });
}

/** Decodes the payload of VECTORS, which follows the op byte. */
export function decodePolicy(reader: MessageReader): VectorPolicy & { uid: number } {
  const fields = readObject(reader);
  return { uid: whole(fields, "uid"), ...checkPolicy(fields) };
}

export function encodeClose(uid: number): Uint8Array<ArrayBuffer> {
  return encode(Op.CLOSE, { uid });
}

export function encodeDrop(uid: number): Uint8Array<ArrayBuffer> {
  return encode(Op.DROP, { uid });
}

export function encodeStats(uid: number): Uint8Array<ArrayBuffer> {
  return encode(Op.STATS, { uid });
}

export function encodeStanding(request: StandingRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.STANDING, request);
}

/** Decodes the payload of STANDING, which follows the op byte. */
export function decodeStanding(reader: MessageReader): StandingRequest {
  const fields = readObject(reader);
  const [uid, schemaVersion] = [whole(fields, "uid"), whole(fields, "schemaVersion")];
  return { uid, schemaVersion, made: fields.made === true };
}

export function encodeSize(uid: number): Uint8Array<ArrayBuffer> {
  return encode(Op.SIZE, { uid });
}

/** Decodes the payload of CLOSE, DROP, STATS or SIZE, which follows the op byte. */
export function decodeUid(reader: MessageReader): number {
  return whole(readObject(reader), "uid");
}

/**
 * Reports that no read will request a generation below `oldestGeneration`. Reads and writes carry the same
 * information, so this message is needed only while there are none.
 */
export function encodeInUse(uid: number, oldestGeneration: number): Uint8Array<ArrayBuffer> {
  return encode(Op.IN_USE, { uid, oldestGeneration });
}

/** Decodes the payload of IN_USE, which follows the op byte. */
export function decodeInUse(reader: MessageReader): { uid: number; oldestGeneration: number } {
  const fields = readObject(reader);
  return { uid: whole(fields, "uid"), oldestGeneration: whole(fields, "oldestGeneration") };
}

/** Makes the shard record that every write up to `generation` is published. */
export function encodePublished(uid: number, generation: number): Uint8Array<ArrayBuffer> {
  return encode(Op.PUBLISHED, { uid, generation });
}

/** Takes back the writes after `generation` in an index that is not open. */
export function encodeTakeBack(uid: number, generation: number): Uint8Array<ArrayBuffer> {
  return encode(Op.TAKE_BACK, { uid, generation });
}

/** Decodes the payload of PUBLISHED or TAKE_BACK, which follows the op byte. */
export function decodeGeneration(reader: MessageReader): { uid: number; generation: number } {
  const fields = readObject(reader);
  return { uid: whole(fields, "uid"), generation: whole(fields, "generation") };
}

export function encodePing(): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1).u8(Op.PING).finish();
}

export function encodeShutdown(): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1).u8(Op.SHUTDOWN).finish();
}

export function encodeOpenReply(reply: OpenReply): Uint8Array<ArrayBuffer> {
  return encodeOk(pack(reply));
}

export function decodeOpenReply(reply: Uint8Array): OpenReply {
  return openReplyOf(readObject(openReply(reply)));
}

export function encodeStandingReply(standing: Standing): Uint8Array<ArrayBuffer> {
  return encodeOk(pack(standing));
}

export function decodeStandingReply(reply: Uint8Array): Standing {
  const fields = readObject(openReply(reply));
  const inDoubt = (fields.inDoubt as Fields[]).map((write) => {
    return { generation: whole(write, "generation"), shards: whole(write, "shards") };
  });
  return { ...openReplyOf(fields), published: whole(fields, "published"), inDoubt };
}

function openReplyOf(fields: Fields): OpenReply {
  return {
    liveDocs: whole(fields, "liveDocs"),
    maxSeq: whole(fields, "maxSeq"),
    generation: whole(fields, "generation"),
    staleSegments: whole(fields, "staleSegments"),
  };
}

export function encodeStatsReply(stats: IndexStats): Uint8Array<ArrayBuffer> {
  return encodeOk(pack(stats));
}

export function decodeStatsReply(reply: Uint8Array): IndexStats {
  const fields = readObject(openReply(reply));
  return {
    liveDocs: whole(fields, "liveDocs"),
    deletedRows: whole(fields, "deletedRows"),
    segments: whole(fields, "segments"),
    segmentBytes: whole(fields, "segmentBytes"),
    memoryBytes: whole(fields, "memoryBytes"),
    terms: whole(fields, "terms"),
    staleSegments: whole(fields, "staleSegments"),
    merging: fields.merging === true,
    maintenanceDue: fields.maintenanceDue === true,
    queuedBytes: whole(fields, "queuedBytes"),
    vectors: whole(fields, "vectors"),
    pending: whole(fields, "pending"),
    codesBytes: whole(fields, "codesBytes"),
    modelNumber: whole(fields, "modelNumber"),
    modelBytes: whole(fields, "modelBytes"),
    modelDocuments: whole(fields, "modelDocuments"),
    modelFields: whole(fields, "modelFields"),
    modelTrainedAt: whole(fields, "modelTrainedAt"),
    modelTookMs: whole(fields, "modelTookMs"),
  };
}

export function encodeSizeReply(size: IndexSize): Uint8Array<ArrayBuffer> {
  return encodeOk(pack(size));
}

export function decodeSizeReply(reply: Uint8Array): IndexSize {
  const fields = readObject(openReply(reply));
  return { diskBytes: whole(fields, "diskBytes"), memoryBytes: whole(fields, "memoryBytes") };
}
