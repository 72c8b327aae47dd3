// The manifest of one index in one shard: the list of its segments, and the counters that must survive a
// restart. Anything not listed in the manifest does not exist. The bytes are a FlatBuffers table, so fields
// can be added at the end:
//
//   table Segment  { id:uint; rows:uint; bytes:uint; pieces:uint; schema_version:uint;
//                    first_seq:double; last_seq:double; deleted:uint; }
//   table Doubtful { generation:double; shards:uint; max_seq_before:double; }
//   table Manifest { generation:double; max_seq:double; next_segment:uint; schema_version:uint;
//                    segments:[Segment]; published:double; in_doubt:[Doubtful]; }
//
// Version 2 has the last two fields, which only an index in several shards needs. The manifest of any other
// index is still written as version 1, which older builds read.
//
// The table code is written by hand: field n has vtable offset 4 + 2n. ON DISK - never renumber, only append.
import { Builder, ByteBuffer } from "flatbuffers";
import { keepShape } from "../../engine-wasm/host/runtime/kept-shapes.js";
import { DamagedBytesError, ENVELOPE_MANIFEST, seal, unseal } from "../storage/envelope.js";

const MANIFEST_VERSION = 2;
const MANIFEST_VERSION_ONE_SHARD = 1;

keepShape(new Builder(1));

export interface SegmentRecord {
  id: number;
  rows: number;
  /** Size of the segment in bytes. */
  bytes: number;
  /** Number of stored pieces. */
  pieces: number;
  /** Schema version that the segment was built with. */
  schemaVersion: number;
  firstSeq: number;
  lastSeq: number;
  /** Number of rows marked as deleted. If it is above 0, a deleted-rows record exists. */
  deleted: number;
}

/** A write to several shards that this shard has stored, and that the others may not have stored. */
export interface DoubtfulWrite {
  generation: number;
  /** Number of shards that got a part of the write. */
  shards: number;
  /** Largest seq before the write. The write's own documents have larger ones. */
  maxSeqBefore: number;
}

export interface Manifest {
  /** The generation of the last committed write. */
  generation: number;
  /** Largest sequence number ever committed. */
  maxSeq: number;
  /** Id for the next new segment; ids are never reused. */
  nextSegment: number;
  schemaVersion: number;
  /** Ascending by seq, without overlaps. */
  segments: SegmentRecord[];
  /**
   * Every write up to this generation is known to be published. 0 if the index has never been in several
   * shards.
   */
  published: number;
  /** Later writes to several shards, ascending by generation. */
  inDoubt: DoubtfulWrite[];
}

const SEGMENT_FIELDS = 8;
const DOUBTFUL_FIELDS = 3;
const MANIFEST_FIELDS = 7;

function fieldAt(index: number): number {
  return 4 + 2 * index;
}

function addSegment(builder: Builder, segment: SegmentRecord): number {
  builder.startObject(SEGMENT_FIELDS);
  builder.addFieldInt32(0, segment.id, 0);
  builder.addFieldInt32(1, segment.rows, 0);
  builder.addFieldInt32(2, segment.bytes, 0);
  builder.addFieldInt32(3, segment.pieces, 0);
  builder.addFieldInt32(4, segment.schemaVersion, 0);
  builder.addFieldFloat64(5, segment.firstSeq, 0);
  builder.addFieldFloat64(6, segment.lastSeq, 0);
  builder.addFieldInt32(7, segment.deleted, 0);
  return builder.endObject();
}

function addDoubtful(builder: Builder, write: DoubtfulWrite): number {
  builder.startObject(DOUBTFUL_FIELDS);
  builder.addFieldFloat64(0, write.generation, 0);
  builder.addFieldInt32(1, write.shards, 0);
  builder.addFieldFloat64(2, write.maxSeqBefore, 0);
  return builder.endObject();
}

function addTables(builder: Builder, tables: number[]): number {
  builder.startVector(4, tables.length, 4);
  for (const table of tables.reverse()) builder.addOffset(table);
  return builder.endVector();
}

export function encodeManifest(manifest: Manifest): Uint8Array {
  const { published, inDoubt } = manifest;
  const builder = new Builder(64 + manifest.segments.length * 64 + inDoubt.length * 48);
  const segments = addTables(
    builder,
    manifest.segments.map((segment) => addSegment(builder, segment)),
  );
  const doubtful = inDoubt.map((write) => addDoubtful(builder, write));
  const writes = doubtful.length === 0 ? 0 : addTables(builder, doubtful);
  builder.startObject(MANIFEST_FIELDS);
  builder.addFieldFloat64(0, manifest.generation, 0);
  builder.addFieldFloat64(1, manifest.maxSeq, 0);
  builder.addFieldInt32(2, manifest.nextSegment, 0);
  builder.addFieldInt32(3, manifest.schemaVersion, 0);
  builder.addFieldOffset(4, segments, 0);
  builder.addFieldFloat64(5, published, 0);
  builder.addFieldOffset(6, writes, 0);
  builder.finish(builder.endObject());
  const version = published > 0 || inDoubt.length > 0 ? MANIFEST_VERSION : MANIFEST_VERSION_ONE_SHARD;
  return seal(ENVELOPE_MANIFEST, version, builder.asUint8Array());
}

/** A FlatBuffers table at an absolute position. A missing field reads as 0, as the format defines. */
class Table {
  readonly #bytes: ByteBuffer;
  readonly #at: number;

  constructor(bytes: ByteBuffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  uint(field: number): number {
    const offset = this.#bytes.__offset(this.#at, fieldAt(field));
    return offset === 0 ? 0 : this.#bytes.readUint32(this.#at + offset);
  }

  double(field: number): number {
    const offset = this.#bytes.__offset(this.#at, fieldAt(field));
    return offset === 0 ? 0 : this.#bytes.readFloat64(this.#at + offset);
  }

  tables(field: number): Table[] {
    const offset = this.#bytes.__offset(this.#at, fieldAt(field));
    if (offset === 0) return [];
    const first = this.#bytes.__vector(this.#at + offset);
    const count = this.#bytes.__vector_len(this.#at + offset);
    const tables: Table[] = [];
    for (let i = 0; i < count; i++) {
      tables.push(new Table(this.#bytes, this.#bytes.__indirect(first + i * 4)));
    }
    return tables;
  }
}

/** Decodes and checks a manifest. Throws the envelope's errors; `what` names the record in error messages. */
export function decodeManifest(bytes: Uint8Array, what: string): Manifest {
  const payload = unseal(ENVELOPE_MANIFEST, MANIFEST_VERSION, bytes, what, MANIFEST_VERSION_ONE_SHARD);
  const buffer = new ByteBuffer(payload);
  const root = new Table(buffer, buffer.readInt32(0));
  const manifest: Manifest = {
    generation: root.double(0),
    maxSeq: root.double(1),
    nextSegment: root.uint(2),
    schemaVersion: root.uint(3),
    segments: root.tables(4).map((table) => ({
      id: table.uint(0),
      rows: table.uint(1),
      bytes: table.uint(2),
      pieces: table.uint(3),
      schemaVersion: table.uint(4),
      firstSeq: table.double(5),
      lastSeq: table.double(6),
      deleted: table.uint(7),
    })),
    published: root.double(5),
    inDoubt: root.tables(6).map((table) => ({
      generation: table.double(0),
      shards: table.uint(1),
      maxSeqBefore: table.double(2),
    })),
  };
  checkOrder(manifest, what);
  return manifest;
}

function checkOrder(manifest: Manifest, what: string): void {
  let previous = -1;
  for (const { id, firstSeq, lastSeq, rows, deleted } of manifest.segments) {
    const fits = id < manifest.nextSegment && deleted <= rows && lastSeq <= manifest.maxSeq;
    if (!fits || firstSeq <= previous || lastSeq < firstSeq) {
      throw new DamagedBytesError(`${what}: segment ${id} does not fit`);
    }
    previous = lastSeq;
  }
  let earlier = manifest.published;
  for (const { generation, maxSeqBefore } of manifest.inDoubt) {
    if (generation <= earlier || generation > manifest.generation || maxSeqBefore > manifest.maxSeq) {
      throw new DamagedBytesError(`${what}: the write of generation ${generation} does not fit`);
    }
    earlier = generation;
  }
}
