// A naive decoder of segment bytes, written from docs/FORMATS.md and layout.ts. It reads one value at a time
// and shares no code with the engine. Throws if the bytes violate the format.
import * as L from "../../../engine-wasm/assembly/layout.js";

export interface ReadPosting {
  row: number;
  positions: number[];
}

export interface ReadBlock {
  lastRow: number;
  maxTf: number;
  minNorm: number;
}

export interface ReadList {
  slot: number;
  postings: ReadPosting[];
  blocks: ReadBlock[];
}

export interface ReadTerm {
  term: string;
  lists: ReadList[];
}

/** Strings as [raw, folded]; integers and bools as bigint; floats as number. */
export type ReadDictionary = [string, string][] | bigint[] | number[];

export interface ReadField {
  slot: number;
  type: number;
  flags: number;
  elements: number;
  norms: number[] | null;
  present: boolean[];
  offsets: number[] | null;
  values: (number | bigint)[] | null;
  hashes: bigint[] | null;
  ordinals: number[] | null;
  dictionary: ReadDictionary | null;
}

export interface ReadSegment {
  rows: number;
  seqs: number[];
  ids: { hash: bigint; row: number }[];
  terms: ReadTerm[];
  fields: ReadField[];
}

function check(holds: boolean, rule: string): void {
  if (!holds) throw new Error(`segment: ${rule}`);
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Reads forward from an offset. */
class Cursor {
  constructor(
    readonly view: Buffer,
    public at: number,
  ) {}

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.view.readUInt8(this.at++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }
}

/** The i-th number of a packed block: lane i % 4, bit by bit. */
function packedAt(view: Buffer, block: number, bits: number, i: number): number {
  let value = 0;
  for (let bit = 0; bit < bits; bit++) {
    const place = Math.floor(i / 4) * bits + bit;
    const word = view.readUInt32LE(block + Math.floor(place / 32) * 16 + (i % 4) * 4);
    if ((word >>> (place % 32)) & 1) value += 2 ** bit;
  }
  return value;
}

function readPositions(cursor: Cursor, tf: number): number[] {
  const positions: number[] = [];
  let last = 0;
  for (let i = 0; i < tf; i++) {
    const step = cursor.varint();
    check(i === 0 || step > 0, "positions of a posting ascend");
    last += step;
    positions.push(last);
  }
  return positions;
}

function readList(view: Buffer, cursor: Cursor): ReadList {
  const slot = cursor.varint();
  const count = cursor.varint();
  const dataBytes = cursor.varint();
  const positionBytes = cursor.varint();
  const data = cursor.at;
  const blockCount = Math.floor(count / L.BLOCK_ROWS);
  const base = blockCount > 0 ? data + blockCount * L.BLOCK_ENTRY_BYTES + L.LIST_TAIL_BYTES : data;
  const positions = new Cursor(view, data + dataBytes);
  const postings: ReadPosting[] = [];
  const blocks: ReadBlock[] = [];
  let row = -1;
  for (let b = 0; b < blockCount; b++) {
    const entry = data + b * L.BLOCK_ENTRY_BYTES;
    const rowBits = view.readUInt8(entry + L.BLOCK_ROW_BITS);
    const rowsAt = base + view.readUInt32LE(entry + L.BLOCK_DATA);
    const tfsAt = rowsAt + 16 * rowBits;
    check(
      positions.at - data - dataBytes === view.readUInt32LE(entry + L.BLOCK_POSITIONS),
      "block positions",
    );
    for (let i = 0; i < L.BLOCK_ROWS; i++) {
      row += packedAt(view, rowsAt, rowBits, i) + 1;
      const tf = packedAt(view, tfsAt, view.readUInt8(entry + L.BLOCK_TF_BITS), i) + 1;
      postings.push({ row, positions: readPositions(positions, tf) });
    }
    blocks.push({
      lastRow: view.readUInt32LE(entry + L.BLOCK_LAST_ROW),
      maxTf: view.readUInt8(entry + L.BLOCK_MAX_TF),
      minNorm: view.readUInt8(entry + L.BLOCK_MIN_NORM),
    });
  }
  const tail = new Cursor(view, blockCount > 0 ? base + view.readUInt32LE(base - L.LIST_TAIL_BYTES) : data);
  if (blockCount > 0) {
    check(positions.at - data - dataBytes === view.readUInt32LE(base - 4), "tail positions");
  }
  for (let i = 0; i < count % L.BLOCK_ROWS; i++) {
    const head = tail.varint();
    row += Math.floor(head / 2) + 1;
    const tf = head % 2 === 1 ? tail.varint() + 2 : 1;
    postings.push({ row, positions: readPositions(positions, tf) });
  }
  check(tail.at === data + dataBytes, "data ends with the tail");
  check(positions.at === data + dataBytes + positionBytes, "positions end with the list");
  cursor.at = positions.at;
  return { slot, postings, blocks };
}

function readTerms(view: Buffer): ReadTerm[] {
  const count = view.readUInt32LE(L.SEG_TERMS);
  const offsets = view.readUInt32LE(L.SEG_TERM_OFFSETS);
  const bytes = view.readUInt32LE(L.SEG_TERM_BYTES);
  const lcps = view.readUInt32LE(L.SEG_TERM_LCP);
  const starts = view.readUInt32LE(L.SEG_TERM_LISTS);
  const lists = view.readUInt32LE(L.SEG_LISTS);
  let previous = Buffer.alloc(0);
  return times(count, (t) => {
    const from = bytes + view.readUInt32LE(offsets + 4 * t);
    const term = Buffer.from(view.subarray(from, bytes + view.readUInt32LE(offsets + 4 * t + 4)));
    check(t === 0 || Buffer.compare(previous, term) < 0, "terms ascend");
    let shared = 0;
    while (shared < Math.min(previous.length, term.length) && previous[shared] === term[shared]) shared++;
    check(view.readUInt8(lcps + t) === shared, "shared prefix");
    previous = term;
    const end = lists + view.readUInt32LE(starts + 4 * t + 4);
    const cursor = new Cursor(view, lists + view.readUInt32LE(starts + 4 * t));
    const own: ReadList[] = [];
    while (cursor.at < end) own.push(readList(view, cursor));
    check(cursor.at === end, "lists end where the next term's begin");
    return { term: term.toString("utf8"), lists: own };
  });
}

function isTextType(type: number): boolean {
  return type === L.TYPE_STRING || type === L.TYPE_STRINGS;
}

function isFloatType(type: number): boolean {
  return type === L.TYPE_FLOAT || type === L.TYPE_FLOATS;
}

function readValue(view: Buffer, section: number, type: number, i: number): number | bigint {
  if (type === L.TYPE_BOOL) return view.readUInt8(section + i);
  if (type === L.TYPE_INT32 || type === L.TYPE_INT32S) return view.readInt32LE(section + 4 * i);
  if (isFloatType(type)) return view.readDoubleLE(section + 8 * i);
  check(type === L.TYPE_INT64, `the reader does not know the type ${type}`);
  return view.readBigInt64LE(section + 8 * i);
}

function readDictionary(view: Buffer, at: number, type: number): ReadDictionary {
  const count = view.readUInt32LE(at + L.DICT_COUNT);
  if (isTextType(type)) {
    const raw = at + view.readUInt32LE(at + L.DICT_RAW_OFFSETS);
    const folded = at + view.readUInt32LE(at + L.DICT_FOLDED_OFFSETS);
    const text = (offsets: number, i: number): string =>
      view.toString(
        "utf8",
        at + view.readUInt32LE(offsets + 4 * i),
        at + view.readUInt32LE(offsets + 4 * i + 4),
      );
    return times(count, (i): [string, string] => [text(raw, i), text(folded, i)]);
  }
  const values = at + view.readUInt32LE(at + L.DICT_VALUES);
  if (isFloatType(type)) return times(count, (i) => view.readDoubleLE(values + 8 * i));
  return times(count, (i) => view.readBigInt64LE(values + 8 * i));
}

function readField(view: Buffer, entry: number, rows: number): ReadField {
  const type = view.readUInt8(entry + L.FIELD_TYPE);
  const elements = view.readUInt32LE(entry + L.FIELD_ELEMENTS);
  const section = <T>(reference: number, read: (at: number) => T): T | null => {
    const at = view.readUInt32LE(entry + reference);
    check(at % 8 === 0, "sections are 8-aligned");
    return at === 0 ? null : read(at);
  };
  return {
    slot: view.readUInt16LE(entry + L.FIELD_SLOT),
    type,
    flags: view.readUInt8(entry + L.FIELD_FLAGS),
    elements,
    norms: section(L.FIELD_NORMS, (at) => times(rows, (i) => view.readUInt8(at + i))),
    present:
      section(L.FIELD_PRESENT, (at) =>
        times(rows, (i) => ((view.readUInt8(at + Math.floor(i / 8)) >> (i % 8)) & 1) === 1),
      ) ?? [],
    offsets: section(L.FIELD_OFFSETS, (at) => times(rows + 1, (i) => view.readUInt32LE(at + 4 * i))),
    values: section(L.FIELD_VALUES, (at) => times(elements, (i) => readValue(view, at, type, i))),
    hashes: section(L.FIELD_HASHES, (at) => times(elements, (i) => view.readBigUInt64LE(at + 8 * i))),
    ordinals: section(L.FIELD_ORDINALS, (at) => times(elements, (i) => view.readInt32LE(at + 4 * i))),
    dictionary: section(L.FIELD_DICTIONARY, (at) => readDictionary(view, at, type)),
  };
}

export function readSegment(bytes: Uint8Array): ReadSegment {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  check(view.readUInt32LE(L.SEG_MAGIC) === L.SEGMENT_MAGIC, "magic");
  check(view.readUInt32LE(L.SEG_VERSION) === L.SEGMENT_VERSION, "version");
  check(view.readUInt32LE(L.SEG_BYTES) === bytes.length && bytes.length % 8 === 0, "length");
  const rows = view.readUInt32LE(L.SEG_ROWS);
  const seqs = view.readUInt32LE(L.SEG_SEQS);
  const hashes = view.readUInt32LE(L.SEG_ID_HASHES);
  const idRows = view.readUInt32LE(L.SEG_ID_ROWS);
  const table = view.readUInt32LE(L.SEG_FIELD_TABLE);
  return {
    rows,
    seqs: times(rows, (i) => Number(view.readBigUInt64LE(seqs + 8 * i))),
    ids: times(rows, (i) => ({
      hash: view.readBigUInt64LE(hashes + 8 * i),
      row: view.readUInt32LE(idRows + 4 * i),
    })),
    terms: readTerms(view),
    fields: times(view.readUInt32LE(L.SEG_FIELDS), (i) =>
      readField(view, table + i * L.FIELD_ENTRY_BYTES, rows),
    ),
  };
}
