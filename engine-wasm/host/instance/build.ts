// Builds a segment from raw documents: encodes the build kernel's input and reads its result.
// engine-wasm/assembly/build/build.ts and build-schema.ts describe the layouts. Uses the instance's current
// analysis settings.
import {
  REFUSED_AT,
  REFUSED_BYTES,
  REFUSED_CODE,
  REFUSED_INDEX,
  REFUSED_SLOT,
  VECTOR_BYTES,
} from "../../assembly/layout.js";
import type { EngineInstance } from "../wasm/memory.js";

export interface BuildField {
  /** Permanent number of the field in its index, 0..65535. */
  slot: number;
  name: string;
  /** TYPE_*. */
  type: number;
  /** FLAG_*. */
  flags: number;
  /** Language number of the field's text (stemmer.ts); 0 for none. */
  language: number;
}

export interface BuildDocument {
  /** Unique; ascends from document to document. */
  seq: number;
  /** One JSON object, UTF-8. */
  raw: Uint8Array;
}

export interface BuildFailure {
  /** Position of the document in the input. */
  index: number;
  /** DOC_*. */
  code: number;
  /** Slot of the offending field; -1 if the failure does not concern a single field. */
  slot: number;
  /** Byte position in the document. */
  at: number;
}

export interface BuildResult {
  /** A copy with exactly the segment's length; null if no document was accepted. */
  segment: Uint8Array<ArrayBuffer> | null;
  /** The refused documents, in input order. */
  failures: BuildFailure[];
  /**
   * The rows' vector records, VECTOR_BYTES each, from the documents' embeddings. Null if no document had an
   * embedding.
   */
  vectors: Uint8Array<ArrayBuffer> | null;
}

const FIELD_HEAD_BYTES = 7;
const DOCUMENT_HEAD_BYTES = 12;
const NO_SLOT = 0xffffffff;

/** Size of the build kernel's input in bytes. */
function inputBytes(fields: readonly BuildField[], documents: readonly BuildDocument[]): number {
  let bytes = 2 + 4;
  for (const field of fields) bytes += FIELD_HEAD_BYTES + Buffer.byteLength(field.name);
  for (const document of documents) bytes += DOCUMENT_HEAD_BYTES + document.raw.length;
  return bytes;
}

/**
 * Writes the build kernel's input to `start`. Throws a RangeError if a name's length or a slot exceeds u16.
 */
function writeInput(
  out: Buffer,
  start: number,
  fields: readonly BuildField[],
  documents: readonly BuildDocument[],
): void {
  let at = out.writeUInt16LE(fields.length, start);
  for (const field of fields) {
    const name = Buffer.from(field.name);
    at = out.writeUInt16LE(field.slot, at);
    at = out.writeUInt8(field.type, at);
    at = out.writeUInt8(field.flags, at);
    at = out.writeUInt8(field.language, at);
    at = out.writeUInt16LE(name.length, at);
    out.set(name, at);
    at += name.length;
  }
  at = out.writeUInt32LE(documents.length, at);
  for (const document of documents) {
    at = out.writeDoubleLE(document.seq, at);
    at = out.writeUInt32LE(document.raw.length, at);
    out.set(document.raw, at);
    at += document.raw.length;
  }
}

/** Reads the build kernel's result, which begins at `start` in the view, and copies the segment out. */
function decodeBuildResult(view: Buffer, start: number): Omit<BuildResult, "vectors"> {
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
 * A running build. Between steps the caller may do other work, but must not use this instance for anything
 * else. An error ends the build.
 */
export class Build {
  readonly #instance: EngineInstance;
  readonly #state: number; // the build's address in scratch
  readonly #documents: number;

  /**
   * Starts to build a segment of `documents`, whose ids must differ. Throws EngineError("program") if the
   * schema has an unknown type or language or a duplicate slot or name.
   */
  constructor(instance: EngineInstance, fields: readonly BuildField[], documents: readonly BuildDocument[]) {
    const bytes = inputBytes(fields, documents);
    const p = instance.room(bytes);
    writeInput(instance.view(), p, fields, documents);
    this.#instance = instance;
    this.#documents = documents.length;
    this.#state = instance.address(instance.run((kernels) => kernels.buildBegin(p, bytes)));
  }

  /**
   * Works for a fraction of a millisecond (longer on a large document). Returns the result once the build is
   * complete, otherwise null.
   */
  step(): BuildResult | null {
    const result = this.#instance.address(this.#instance.run((kernels) => kernels.buildStep(this.#state)));
    if (result === 0) return null;
    const built = decodeBuildResult(this.#instance.view(), result);
    return { ...built, vectors: this.#vectors(this.#documents - built.failures.length) };
  }

  #vectors(rows: number): Uint8Array<ArrayBuffer> | null {
    const at = this.#instance.run((kernels) => kernels.buildVectors(this.#state)) >>> 0;
    return at === 0 ? null : new Uint8Array(this.#instance.view().subarray(at, at + rows * VECTOR_BYTES));
  }
}

/** Runs a whole build at once; see Build. */
export function buildSegment(
  instance: EngineInstance,
  fields: readonly BuildField[],
  documents: readonly BuildDocument[],
): BuildResult {
  const build = new Build(instance, fields, documents);
  for (;;) {
    const result = build.step();
    if (result !== null) return result;
  }
}
