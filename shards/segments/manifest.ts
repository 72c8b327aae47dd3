// The manifest of one index in one shard: the list of its segments, and the counters that must survive a
// restart. Anything not listed in the manifest does not exist. The bytes are a FlatBuffers table, so fields
// can be added at the end:
//
//   table Segment  { id:uint; rows:uint; bytes:uint; pieces:uint; schema_version:uint;
//                    first_seq:double; last_seq:double; deleted:uint; }
//   table Manifest { generation:double; max_seq:double; next_segment:uint; schema_version:uint;
//                    segments:[Segment]; }
//
// The table code is written by hand: field n has vtable offset 4 + 2n. ON DISK - never renumber, only append.
import { Builder, ByteBuffer } from "flatbuffers";
import { keepShape } from "../../engine-wasm/host/runtime/kept-shapes.js";
import { DamagedBytesError, ENVELOPE_MANIFEST, seal, unseal } from "../storage/envelope.js";

const MANIFEST_VERSION = 1;

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
}

const SEGMENT_FIELDS = 8;
const MANIFEST_FIELDS = 5;

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

export function encodeManifest(manifest: Manifest): Uint8Array {
  const builder = new Builder(64 + manifest.segments.length * 64);
  const tables = manifest.segments.map((segment) => addSegment(builder, segment));
  builder.startVector(4, tables.length, 4);
  for (const table of tables.reverse()) builder.addOffset(table);
  const segments = builder.endVector();
  builder.startObject(MANIFEST_FIELDS);
  builder.addFieldFloat64(0, manifest.generation, 0);
  builder.addFieldFloat64(1, manifest.maxSeq, 0);
  builder.addFieldInt32(2, manifest.nextSegment, 0);
  builder.addFieldInt32(3, manifest.schemaVersion, 0);
  builder.addFieldOffset(4, segments, 0);
  builder.finish(builder.endObject());
  return seal(ENVELOPE_MANIFEST, MANIFEST_VERSION, builder.asUint8Array());
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
  const payload = unseal(ENVELOPE_MANIFEST, MANIFEST_VERSION, bytes, what);
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
}
