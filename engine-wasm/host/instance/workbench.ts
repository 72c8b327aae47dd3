// A thread's tools for analysing text, splitting and indexing documents, and converting vectors. They use one
// engine instance with the Unicode table. The only state kept between calls is the current analysis settings.
// The instance is replaced after a trap, and after a large call has grown its memory beyond
// WORKBENCH_BYTES_MAX, because linear memory never shrinks.
import {
  DOC_OK,
  OVERRIDE_SEPARATOR,
  TOKEN_END,
  TOKEN_PARTS,
  TOKEN_POSITION,
  TOKEN_START,
  TOKEN_TERM,
  TOKEN_TERM_BYTES,
} from "../../assembly/layout.js";
import { EngineError } from "../engine-error.js";
import {
  type Member,
  readMembers,
  readSplit,
  readSplitLines,
  type SplitLines,
  type SplitResult,
} from "../programs/split-result.js";
import { discardMemory } from "../runtime/discards.js";
import { queryVector, vectorOf, vectorOfJson } from "../vectors/outside-vectors.js";
import { VectorTable } from "../vectors/vector-table.js";
import type { EngineInstance } from "../wasm/memory.js";
import { Build, type BuildDocument, type BuildField, type BuildResult, buildSegment } from "./build.js";

/**
 * A workbench whose memory has grown beyond this size replaces its instance at the next call. An idle
 * workbench drops its instance above RESTING_BYTES_MAX.
 */
const WORKBENCH_BYTES_MAX = 32 * 1024 * 1024;
const RESTING_BYTES_MAX = 2 * 1024 * 1024;

/**
 * An index's adjustments to the analyser: code points to treat as letters, and code points to treat as
 * separators.
 */
export interface AnalysisSettings {
  symbolsToIndex: string;
  tokenSeparators: string;
}

/** The indexed fields of a schema version and how their text is analysed. */
export interface BuildSchema {
  fields: readonly BuildField[];
  analysis: AnalysisSettings;
}

export const PLAIN_ANALYSIS: AnalysisSettings = { symbolsToIndex: "", tokenSeparators: "" };

/**
 * A folded term and where it occurs in the text. It is either a word (parts: 1) or a joined token, such as
 * "wifi" for the two words of "wi-fi". A joined token follows the last of its words.
 */
export interface Token {
  term: string;
  /** UTF-8 byte offsets in the text. */
  start: number;
  end: number;
  /** Words are numbered 0, 1, 2 ...; a joined token has the number of its first word. */
  position: number;
  /** Number of words in the token. */
  parts: number;
}

export class Workbench {
  readonly #create: () => EngineInstance;
  readonly #foldTable: Uint8Array;
  #instance: EngineInstance | null = null;
  #symbols = "";
  #separators = "";
  #overrides = 0; // region of the current overrides, 0 for none

  constructor(create: () => EngineInstance, foldTable: Uint8Array) {
    this.#create = create;
    this.#foldTable = foldTable;
  }

  /** Returns the tokens of a text in order, including joined tokens. */
  analyse(text: string | Uint8Array, analysis: AnalysisSettings = PLAIN_ANALYSIS): Token[] {
    const result = this.ready(analysis).exchange(bytesOf(text), (kernels, p, bytes) =>
      kernels.analyse(p, bytes),
    );
    const view = Buffer.from(result.buffer);
    const tokens: Token[] = [];
    for (let at = 0; at < view.length; ) {
      const term = at + TOKEN_TERM;
      const termEnd = term + view.readUInt32LE(at + TOKEN_TERM_BYTES);
      tokens.push({
        term: view.toString("utf8", term, termEnd),
        start: view.readUInt32LE(at + TOKEN_START),
        end: view.readUInt32LE(at + TOKEN_END),
        position: view.readUInt32LE(at + TOKEN_POSITION),
        parts: view.readUInt32LE(at + TOKEN_PARTS),
      });
      at = (termEnd + 3) & ~3;
    }
    return tokens;
  }

  /**
   * Returns the folded value (UTF-8), which is used for equality and order and does not depend on analysis
   * settings.
   */
  fold(text: string | Uint8Array): Uint8Array {
    return this.ready().exchange(bytesOf(text), (kernels, p, bytes) => kernels.fold(p, bytes));
  }

  /** 64-bit hash of an id or a folded value. */
  hash(id: string | Uint8Array): bigint {
    const bytes = bytesOf(id);
    const instance = this.ready();
    const p = instance.input(bytes);
    return BigInt.asUintN(
      64,
      instance.run((kernels) => kernels.hash(p, bytes.length)),
    );
  }

  /** Splits a batch body into documents. Never throws because of the body's contents; see `status`. */
  split(body: Uint8Array): SplitResult {
    const instance = this.ready();
    const p = instance.input(body);
    const result = instance.result(instance.run((kernels) => kernels.split(p, body.length)));
    return readSplit(result, instance.view().subarray(p, p + body.length));
  }

  /**
   * Splits a piece of an NDJSON stream into documents. Bytes from `consumed` on are an unfinished line, which
   * the caller must prepend to the next piece. If `last` is true, everything is consumed.
   */
  splitLines(chunk: Uint8Array, last: boolean): SplitLines {
    const instance = this.ready();
    const p = instance.input(chunk);
    const result = instance.result(
      instance.run((kernels) => kernels.splitLines(p, chunk.length, last ? 1 : 0)),
    );
    return readSplitLines(result, instance.view().subarray(p, p + chunk.length));
  }

  /**
   * Returns a JSON object's members in text order. If a name repeats, only its last member is returned.
   * Throws EngineError("json") if the text is not one well-formed object.
   */
  topLevel(raw: Uint8Array): Member[] {
    const instance = this.ready();
    const p = instance.input(raw);
    const result = instance.result(instance.run((kernels) => kernels.topLevel(p, raw.length)));
    const { status, at, members } = readMembers(result, instance.view().subarray(p, p + raw.length));
    if (status !== DOC_OK) {
      throw new EngineError("json", `Not a JSON object, position ${at}`, { documentStatus: status, at });
    }
    return members;
  }

  /**
   * Builds a segment whose rows are the accepted documents in input order. Ids must be unique and seqs
   * ascending. Never throws because of a document's contents; see `failures`.
   */
  build(schema: BuildSchema, documents: readonly BuildDocument[]): BuildResult {
    return buildSegment(this.ready(schema.analysis), schema.fields, documents);
  }

  /**
   * Like `build`, but in steps; see Build. Until the build ends, this workbench must not be used for anything
   * else.
   */
  beginBuild(schema: BuildSchema, documents: readonly BuildDocument[]): Build {
    return new Build(this.ready(schema.analysis), schema.fields, documents);
  }

  /** Returns the vector record for 512 numbers, or null if they are not a valid vector. */
  vectorOf(numbers: Float32Array | Float64Array): Uint8Array | null {
    return vectorOf(this.ready(), numbers);
  }

  /**
   * Returns a query's vector, of length 1 and rotated, for 512 numbers, or null if they are not a valid
   * vector.
   */
  queryVector(numbers: Float32Array | Float64Array): Float32Array | null {
    return queryVector(this.ready(), numbers);
  }

  /** Returns the vector record for a document's `embedding`; null if the document has no valid one. */
  vectorOfJson(raw: Uint8Array): Uint8Array | null {
    return vectorOfJson(this.ready(), raw);
  }

  /** Creates a table of vector records that are compared in place. The table has its own instance. */
  vectorTable(): VectorTable {
    return new VectorTable(this.#create());
  }

  /** Creates another workbench with its own instance. */
  another(): Workbench {
    return new Workbench(this.#create, this.#foldTable);
  }

  /**
   * Drops the instance of an idle workbench if its memory has grown beyond RESTING_BYTES_MAX. The next call
   * creates a new instance within a millisecond.
   */
  rest(): void {
    if (this.#instance === null || this.#instance.memoryBytes() <= RESTING_BYTES_MAX) return;
    discardMemory(this.#instance.memoryBytes());
    this.#instance = null;
  }

  /**
   * Returns the instance with the given settings applied, for one operation outside this file. The caller
   * must not keep the instance.
   */
  ready(analysis: AnalysisSettings = PLAIN_ANALYSIS): EngineInstance {
    let instance = this.#instance;
    if (instance === null || !instance.usable || instance.memoryBytes() > WORKBENCH_BYTES_MAX) {
      if (instance !== null) discardMemory(instance.memoryBytes());
      this.#instance = null;
      instance = this.#create();
      const table = instance.region(this.#foldTable);
      instance.address(instance.run((kernels) => kernels.setUnicode(table)));
      this.#symbols = "";
      this.#separators = "";
      this.#overrides = 0;
      this.#instance = instance;
    }
    this.#apply(instance, analysis);
    return instance;
  }

  #apply(instance: EngineInstance, analysis: AnalysisSettings): void {
    if (analysis.symbolsToIndex === this.#symbols && analysis.tokenSeparators === this.#separators) return;
    const list = overrideList(analysis);
    const old = this.#overrides;
    this.#overrides = instance.region(new Uint8Array(list.buffer));
    instance.address(instance.run((kernels) => kernels.setOverrides(this.#overrides, list.length)));
    if (old !== 0) instance.release(old);
    this.#symbols = analysis.symbolsToIndex;
    this.#separators = analysis.tokenSeparators;
  }
}

/**
 * Returns the overrides in the form that the engine reads: sorted by code point. A code point that is both a
 * separator and a symbol counts as a separator.
 */
function overrideList(analysis: AnalysisSettings): Uint32Array {
  const entries = new Map<number, number>();
  for (const symbol of analysis.symbolsToIndex) {
    const point = symbol.codePointAt(0) ?? 0;
    entries.set(point, point);
  }
  for (const separator of analysis.tokenSeparators) {
    const point = separator.codePointAt(0) ?? 0;
    entries.set(point, point | OVERRIDE_SEPARATOR);
  }
  return new Uint32Array([...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry));
}

const encoder = new TextEncoder();

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? encoder.encode(text) : text;
}
