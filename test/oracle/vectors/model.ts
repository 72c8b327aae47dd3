// An embedded model as plain values, its bytes, and the vectors it assigns to rows and queries, in plain
// floating-point arithmetic.
import * as L from "../../../engine-wasm/assembly/layout.js";
import type { ReadSegment } from "../segments/segment-reader.js";

export interface PlainSlot {
  slot: number;
  weight: number;
  stemmed: boolean;
}

export interface PlainTerm {
  term: string;
  factor: number;
  /** 512 integers from -127 to 127. */
  numbers: number[];
}

export interface PlainModel {
  slots: PlainSlot[];
  /** Sorted by the terms' bytes, ascending. */
  terms: PlainTerm[];
  documents: number;
  number: number;
  aligned: boolean;
}

const aligned8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export function encodeModel(model: PlainModel): Uint8Array {
  const names = model.terms.map(({ term }) => Buffer.from(term));
  const count = names.length;
  const slotTable = L.MODEL_HEADER_BYTES;
  const offsets = slotTable + model.slots.length * L.MODEL_SLOT_BYTES;
  const factors = aligned8(offsets + 4 * (count + 1));
  const vectors = aligned8(factors + 4 * count);
  const bytes = vectors + count * L.VECTOR_SIZE;
  const out = Buffer.alloc(aligned8(bytes + Buffer.concat(names).length));
  for (const [at, value] of [
    [L.MODEL_MAGIC, L.EMBEDDED_MAGIC],
    [L.MODEL_VERSION, L.EMBEDDED_VERSION],
    [L.MODEL_BYTES, out.length],
    [L.MODEL_TERMS, count],
    [L.MODEL_SLOTS, model.slots.length],
    [L.MODEL_DOCUMENTS, model.documents],
    [L.MODEL_NUMBER, model.number],
    [L.MODEL_FLAGS, model.aligned ? L.MODEL_ALIGNED : 0],
    [L.MODEL_SLOT_TABLE, slotTable],
    [L.MODEL_TERM_OFFSETS, offsets],
    [L.MODEL_TERM_BYTES, bytes],
    [L.MODEL_FACTORS, factors],
    [L.MODEL_VECTORS, vectors],
  ] as const)
    out.writeUInt32LE(value, at);
  for (const [i, { slot, stemmed, weight }] of model.slots.entries()) {
    const at = slotTable + i * L.MODEL_SLOT_BYTES;
    out.writeUInt16LE(slot, at + L.MODEL_SLOT);
    out.writeUInt8(stemmed ? 1 : 0, at + L.MODEL_SLOT_STEMMED);
    out.writeFloatLE(weight, at + L.MODEL_SLOT_WEIGHT);
  }
  let end = 0;
  for (const [i, { factor, numbers }] of model.terms.entries()) {
    names[i]!.copy(out, bytes + end);
    end += names[i]!.length;
    out.writeUInt32LE(end, offsets + 4 * (i + 1));
    out.writeFloatLE(factor, factors + 4 * i);
    for (const [j, x] of numbers.entries()) out.writeInt8(x, vectors + i * L.VECTOR_SIZE + j);
  }
  return out;
}

export function decodeModel(bytes: Uint8Array): PlainModel {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u32 = (at: number): number => view.readUInt32LE(at);
  if (u32(L.MODEL_MAGIC) !== L.EMBEDDED_MAGIC || u32(L.MODEL_VERSION) !== L.EMBEDDED_VERSION)
    throw new Error("no model");
  if (u32(L.MODEL_BYTES) !== bytes.length || bytes.length % 8 !== 0) throw new Error("wrong length");
  const slots = Array.from({ length: u32(L.MODEL_SLOTS) }, (_, i) => {
    const at = u32(L.MODEL_SLOT_TABLE) + i * L.MODEL_SLOT_BYTES;
    return {
      slot: view.readUInt16LE(at + L.MODEL_SLOT),
      stemmed: view.readUInt8(at + L.MODEL_SLOT_STEMMED) === 1,
      weight: view.readFloatLE(at + L.MODEL_SLOT_WEIGHT),
    };
  });
  const offset = (i: number): number => u32(L.MODEL_TERM_BYTES) + u32(u32(L.MODEL_TERM_OFFSETS) + 4 * i);
  const terms = Array.from({ length: u32(L.MODEL_TERMS) }, (_, i) => ({
    term: view.toString("utf8", offset(i), offset(i + 1)),
    factor: view.readFloatLE(u32(L.MODEL_FACTORS) + 4 * i),
    numbers: Array.from({ length: L.VECTOR_SIZE }, (_, j) =>
      view.readInt8(u32(L.MODEL_VECTORS) + i * L.VECTOR_SIZE + j),
    ),
  }));
  return {
    slots,
    terms,
    documents: u32(L.MODEL_DOCUMENTS),
    number: u32(L.MODEL_NUMBER),
    aligned: (u32(L.MODEL_FLAGS) & L.MODEL_ALIGNED) !== 0,
  };
}

/** True if occurrences of the term in the field contribute to vectors. */
function counts(term: string, slot: PlainSlot): boolean {
  if (term === "") return false;
  const isStem = term.charCodeAt(0) === L.TERM_STEM;
  if (!isStem && term.charCodeAt(0) < L.TERM_TEXT) return false;
  return slot.stemmed ? isStem || /[0-9]/.test(term) : !isStem;
}

/** For each row, each term's weighted frequency. */
export function rowFeatures(segment: ReadSegment, slots: PlainSlot[]): Map<string, number>[] {
  const rows = Array.from({ length: segment.rows }, () => new Map<string, number>());
  for (const { term, lists } of segment.terms) {
    for (const list of lists) {
      const slot = slots.find((candidate) => candidate.slot === list.slot);
      if (slot === undefined || !counts(term, slot)) continue;
      for (const { row, positions } of list.postings) {
        rows[row]!.set(term, (rows[row]!.get(term) ?? 0) + slot.weight * positions.length);
      }
    }
  }
  return rows;
}

/** The vector scaled to length 1; null for a zero vector. */
export function normalised(vector: number[]): number[] | null {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return length === 0 ? null : vector.map((x) => x / length);
}

/** The normalised weighted sum of the vectors of the 64 heaviest terms. */
export function plainVector(model: PlainModel, weights: ReadonlyMap<string, number>): number[] | null {
  const parts = model.terms
    .map(({ term, factor, numbers }) => ({ coefficient: (weights.get(term) ?? 0) * factor, numbers }))
    .filter(({ coefficient }) => coefficient > 0)
    .sort((a, b) => b.coefficient - a.coefficient)
    .slice(0, L.DOCUMENT_TERMS_MAX);
  return normalised(
    Array.from({ length: L.VECTOR_SIZE }, (_, i) =>
      parts.reduce((sum, { coefficient, numbers }) => sum + coefficient * numbers[i]!, 0),
    ),
  );
}

/** The vector of each of the segment's rows; null for a row without one. */
export function plainRows(model: PlainModel, segment: ReadSegment): (number[] | null)[] {
  return rowFeatures(segment, model.slots).map((features) =>
    plainVector(model, new Map([...features].map(([term, tf]) => [term, Math.log(1 + tf)]))),
  );
}

/** The vector of a record; null if it has none. */
export function recordVector(record: Uint8Array): number[] | null {
  const view = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  const scale = view.readFloatLE(L.VECTOR_SCALE);
  const numbers = Array.from({ length: L.VECTOR_SIZE }, (_, i) => view.readInt8(L.VECTOR_NUMBERS + i));
  return scale === 0 ? null : numbers.map((x) => x * scale);
}

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
