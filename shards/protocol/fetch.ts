// Messages for stored documents. FETCH returns documents by sequence number, projected and highlighted; GET
// returns one document by id.
//
//   FETCH request  u8 op, u32 uid, u32 count, count x f64 seq, options
//         options  u8 flags (1 fields, 2 excludeFields, 4 highlight, 8 bytesMax), then the options whose
//                  flags are set, in this order: f64 bytesMax; names of fields; names of excludeFields;
//                  msgpack HighlightRequest
//         names    u32 count, count x {u32 + name}
//         reply    u8 0, u32 count, count x {u16 + id, u32 + document, u32 + highlight}
//   GET   request  u8 op, u32 uid, u64 idHash, u16 + id
//         reply    u8 0, document (empty if no document has the id)
import { pack } from "msgpackr/pack";
import { type MessageReader, MessageWriter } from "./bytes.js";
import { readObject } from "./control.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";

export interface HighlightField {
  /** Name of a string or string[] field. */
  name: string;
  /** Number of the language used to stem its text; 0 for none. */
  language: number;
  /** True if the field contains part numbers. A whole value then also counts as one word. */
  sku: boolean;
  /** True if words are also found inside longer words. */
  infix: boolean;
}

/**
 * The dictionary terms that a query word stands for in a text. Each is a folded term, or a marker term for
 * all forms of a word (TERM_STEM) or for a whole part number (TERM_SKU).
 */
export interface HighlightWord {
  /** Each marks the text that it stands for: a token, a joined token or a whole value. */
  terms: string[];
  /** Each marks the beginning of every term that starts with it. */
  prefixes: string[];
  /** Other spellings, marked like `terms`, but only where none of the word's prefixes fits. */
  typos: string[];
  /** Longer terms that contain the word, marked like `terms`, but only in fields with `infix`. */
  infixes: string[];
  /** Sequences of terms that are marked only where all of them are adjacent. */
  sequences: string[][];
}

export interface HighlightRequest {
  fields: HighlightField[];
  /** In query order. */
  words: HighlightWord[];
  /** Number of tokens to show from a longer field; 0 shows all. */
  snippetTokens: number;
  startTag: string;
  endTag: string;
  /** Escapes &, <, > and quotes in the text, but never in the tags. */
  escapeHtml: boolean;
}

export interface FetchOptions {
  /** Top-level members to keep, in addition to `id`. Overrides excludeFields. */
  fields?: string[];
  excludeFields?: string[];
  highlight?: HighlightRequest;
  /** Maximum total size of the documents and highlights in the answer. */
  bytesMax?: number;
}

export interface FetchRequest extends FetchOptions {
  uid: number;
  seqs: number[];
}

export interface FetchedDocument {
  /** UTF-8; empty if the seq is unknown. */
  id: Uint8Array;
  /** JSON bytes without internal members; empty if the seq is unknown. */
  document: Uint8Array;
  /** JSON object keyed by field: {snippet, matched_tokens}; empty if no highlight was requested. */
  highlight: Uint8Array;
}

/** Size of the encoded options without member names. With names, the message buffer grows. */
export const FETCH_OPTIONS_BYTES = 1 + 8;

export interface GetRequest {
  uid: number;
  id: string;
  /** hash64 of the id's UTF-8. */
  hash: bigint;
}

const decoder = new TextDecoder();

const HAS_FIELDS = 1;
const HAS_EXCLUDE_FIELDS = 2;
const HAS_HIGHLIGHT = 4;
const HAS_BYTES_MAX = 8;

/**
 * Writes fetch options at the end of a message. Member names are few, so they are written as plain strings.
 */
export function putFetchOptions(
  writer: MessageWriter,
  { fields, excludeFields, highlight, bytesMax }: FetchOptions,
): MessageWriter {
  writer.u8(
    (fields === undefined ? 0 : HAS_FIELDS) |
      (excludeFields === undefined ? 0 : HAS_EXCLUDE_FIELDS) |
      (highlight === undefined ? 0 : HAS_HIGHLIGHT) |
      (bytesMax === undefined ? 0 : HAS_BYTES_MAX),
  );
  if (bytesMax !== undefined) writer.whole(bytesMax);
  if (fields !== undefined) putNames(writer, fields);
  if (excludeFields !== undefined) putNames(writer, excludeFields);
  return highlight === undefined ? writer : writer.bytes(pack(highlight));
}

function putNames(writer: MessageWriter, names: readonly string[]): void {
  writer.u32(names.length);
  for (const name of names) writer.block(Buffer.from(name));
}

function readNames(reader: MessageReader): string[] {
  const names: string[] = [];
  for (let left = reader.count(4); left > 0; left--) names.push(decoder.decode(reader.block()));
  return names;
}

export function encodeFetch(request: FetchRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + 4 + request.seqs.length * 8 + FETCH_OPTIONS_BYTES);
  writer.u8(Op.FETCH).u32(request.uid).u32(request.seqs.length);
  for (const seq of request.seqs) writer.whole(seq);
  return putFetchOptions(writer, request).finish();
}

function texts(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== "string")) {
    throw new ShardError(SHARD_BAD_MESSAGE, `${name} is not a list of strings`);
  }
  return value as string[];
}

function objects(value: unknown, name: string): Record<string, unknown>[] {
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== "object" || entry === null)) {
    throw new ShardError(SHARD_BAD_MESSAGE, `${name} is not a list of objects`);
  }
  return value as Record<string, unknown>[];
}

function checkHighlight(value: object): HighlightRequest {
  const { fields, words, snippetTokens, startTag, endTag, escapeHtml } = value as Record<string, unknown>;
  if (typeof snippetTokens !== "number" || typeof startTag !== "string" || typeof endTag !== "string") {
    throw new ShardError(SHARD_BAD_MESSAGE, "highlight without snippetTokens, startTag or endTag");
  }
  return {
    fields: objects(fields, "highlight.fields").map(checkField),
    words: objects(words, "highlight.words").map(checkWord),
    snippetTokens,
    startTag,
    endTag,
    escapeHtml: escapeHtml === true,
  };
}

function checkField({ name, language, sku, infix }: Record<string, unknown>): HighlightField {
  if (typeof name !== "string" || typeof language !== "number") {
    throw new ShardError(SHARD_BAD_MESSAGE, "highlight field without name or language");
  }
  return { name, language, sku: sku === true, infix: infix === true };
}

function checkWord({ terms, prefixes, typos, infixes, sequences }: Record<string, unknown>): HighlightWord {
  if (!Array.isArray(sequences)) throw new ShardError(SHARD_BAD_MESSAGE, "highlight.sequences is not a list");
  return {
    terms: texts(terms, "highlight.terms"),
    prefixes: texts(prefixes, "highlight.prefixes"),
    typos: texts(typos, "highlight.typos"),
    infixes: texts(infixes, "highlight.infixes"),
    sequences: sequences.map((sequence) => texts(sequence, "highlight.sequences")),
  };
}

/** Decodes the payload, which follows the op byte. */
export function decodeFetch(reader: MessageReader): FetchRequest {
  const uid = reader.u32();
  const seqs: number[] = [];
  for (let left = reader.count(8); left > 0; left--) seqs.push(reader.whole());
  return { uid, seqs, ...readFetchOptions(reader) };
}

/** Reads fetch options from the rest of a message. */
export function readFetchOptions(reader: MessageReader): FetchOptions {
  const flags = reader.u8();
  const options: FetchOptions = {};
  if ((flags & HAS_BYTES_MAX) !== 0) options.bytesMax = reader.whole();
  if ((flags & HAS_FIELDS) !== 0) options.fields = readNames(reader);
  if ((flags & HAS_EXCLUDE_FIELDS) !== 0) options.excludeFields = readNames(reader);
  if ((flags & HAS_HIGHLIGHT) !== 0) options.highlight = checkHighlight(readObject(reader));
  else reader.end();
  return options;
}

export function encodeFetchReply(documents: readonly FetchedDocument[]): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + documentsBytes(documents)).u8(REPLY_OK);
  return putDocuments(writer, documents).finish();
}

/** Returns the documents in the order of the requested seqs. Byte arrays are views into the reply. */
export function decodeFetchReply(reply: Uint8Array): FetchedDocument[] {
  return readDocuments(openReply(reply));
}

/** Number of bytes that `putDocuments` will write. */
export function documentsBytes(documents: readonly FetchedDocument[]): number {
  return documents.reduce(
    (sum, { id, document, highlight }) => sum + 2 + id.length + 8 + document.length + highlight.length,
    4,
  );
}

export function putDocuments(writer: MessageWriter, documents: readonly FetchedDocument[]): MessageWriter {
  writer.u32(documents.length);
  for (const { id, document, highlight } of documents)
    writer.u16(id.length).bytes(id).block(document).block(highlight);
  return writer;
}

/** Reads documents from the rest of a reply. */
export function readDocuments(reader: MessageReader): FetchedDocument[] {
  const documents: FetchedDocument[] = [];
  for (let left = reader.count(10); left > 0; left--) {
    documents.push({
      id: reader.bytes(reader.u16()),
      document: reader.block(),
      highlight: reader.block(),
    });
  }
  reader.end();
  return documents;
}

export function encodeGet(request: GetRequest): Uint8Array<ArrayBuffer> {
  return new MessageWriter(64).u8(Op.GET).u32(request.uid).u64(request.hash).text(request.id).finish();
}

/** Decodes the payload, which follows the op byte. */
export function decodeGet(reader: MessageReader): GetRequest {
  const uid = reader.u32();
  const hash = reader.u64();
  const id = reader.text();
  reader.end();
  return { uid, hash, id };
}

/** Returns the document's JSON bytes without internal members, or null if there is no such document. */
export function decodeGetReply(reply: Uint8Array): Uint8Array | null {
  const document = openReply(reply).rest();
  return document.length === 0 ? null : document;
}
