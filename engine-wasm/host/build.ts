// Builds a segment from raw documents: encodes the build kernel's input and reads its result. The pictures are in
// engine-wasm/assembly/build.ts and build-schema.ts. The analyser's settings are those in force in the instance.
import { REFUSED_AT, REFUSED_BYTES, REFUSED_CODE, REFUSED_INDEX, REFUSED_SLOT } from "../assembly/layout.js";
import type { EngineInstance } from "./memory.js";

export interface BuildField {
  /** Permanent number of the field in its index, 0..65535. */
  slot: number;
  name: string;
  /** TYPE_*. */
  type: number;
  /** FLAG_*. */
  flags: number;
  /** Language number of its text (stemmer.ts), 0 for none. */
  language: number;
}

export interface BuildDocument {
  /** Unique, ascending from document to document. */
  seq: number;
  /** One JSON object, UTF-8. */
  raw: Uint8Array;
}

export interface BuildFailure {
  /** Position of the document in the input. */
  index: number;
  /** DOC_*. */
  code: number;
  /** The field that is to blame, -1 when it is none. */
  slot: number;
  /** Byte position in the document. */
  at: number;
}

export interface BuildResult {
  /** Own bytes of exactly the segment's length; null when no document was good. */
  segment: Uint8Array<ArrayBuffer> | null;
  /** The documents that are not in the segment, in input order. */
  failures: BuildFailure[];
}

const FIELD_HEAD_BYTES = 7;
const DOCUMENT_HEAD_BYTES = 12;
const NO_SLOT = 0xffffffff;

/** Input of the build kernel. Throws a RangeError when a name or a slot does not fit u16. */
function encodeBuildInput(fields: readonly BuildField[], documents: readonly BuildDocument[]): Uint8Array {
  const names = fields.map((field) => Buffer.from(field.name));
  let length = 2 + 4;
  for (const name of names) length += FIELD_HEAD_BYTES + name.length;
  for (const document of documents) length += DOCUMENT_HEAD_BYTES + document.raw.length;
  const out = Buffer.allocUnsafe(length);
  let at = out.writeUInt16LE(fields.length, 0);
  fields.forEach((field, i) => {
    const name = names[i]!;
    at = out.writeUInt16LE(field.slot, at);
    at = out.writeUInt8(field.type, at);
    at = out.writeUInt8(field.flags, at);
    at = out.writeUInt8(field.language, at);
    at = out.writeUInt16LE(name.length, at);
    out.set(name, at);
    at += name.length;
  });
  at = out.writeUInt32LE(documents.length, at);
  for (const document of documents) {
    at = out.writeDoubleLE(document.seq, at);
    at = out.writeUInt32LE(document.raw.length, at);
    out.set(document.raw, at);
    at += document.raw.length;
  }
  return out;
}

/** Reads the build kernel's result, which begins at `start` of the view; copies the segment out. */
function decodeBuildResult(view: Buffer, start: number): BuildResult {
  const failures: BuildFailure[] = [];
  const count = view.readUInt32LE(start + 4);
  let at = start + 8;
  for (let i = 0; i < count; i++, at += REFUSED_BYTES) {
    const slot = view.readUInt32LE(at + REFUSED_SLOT);
    failures.push({
      index: view.readUInt32LE(at + REFUSED_INDEX),
      code: view.readUInt32LE(at + REFUSED_CODE),
      slot: slot === NO_SLOT ? -1 : slot,
      at: view.readUInt32LE(at + REFUSED_AT),
    });
  }
  const bytes = view.readUInt32LE(at);
  const segment = bytes === 0 ? null : new Uint8Array(view.subarray(at + 4, at + 4 + bytes));
  return { segment, failures };
}

/**
 * Builds a segment of `documents`, which must have different ids. Throws EngineError("program") for a schema with
 * an unknown type or language or with a slot or name twice.
 */
export function buildSegment(
  instance: EngineInstance,
  fields: readonly BuildField[],
  documents: readonly BuildDocument[],
): BuildResult {
  const input = encodeBuildInput(fields, documents);
  const p = instance.input(input);
  const result = instance.address(instance.run((kernels) => kernels.build(p, input.length)));
  return decodeBuildResult(instance.view(), result);
}
