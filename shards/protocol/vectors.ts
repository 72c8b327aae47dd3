// An index's vectors: models, vectors from outside, and requests about them. A query is 512 floats with
// length 1. A vector is a record as drawn in docs/FORMATS.md.
//
//   MODEL        u8 op, u32 uid, a model                             -> u8 0
//   MODEL_OF     u8 op, u32 uid                                      -> u8 0, a model; number 0: none
//     a model: u32 number, u32 since, u32 documents, u32 fields, u32 trained at, u32 took ms, its bytes
//   EMBED        u8 op, u32 uid, u16 terms x {f32 weight, u16 + term}, u32 seqs x f64
//                -> u8 0, u8 1, f32[512] (or u8 0 when no term is known), seqs x vector (scale 0: none)
//   SIMILARITIES u8 op, u32 uid, f32[512], u32 seqs x f64            -> u8 0, seqs x f32 (NaN: no vector)
//   SAMPLE       u8 op, u32 uid, f64 generation, u32 limit           -> u8 0, u32 count x {u64 id hash, f64 seq}
//   PENDING      u8 op, u32 uid, u32 limit, u32 bytesMax             -> u8 0, u32 count x {f64 seq, u32 + raw JSON}
//   PUT_VECTORS  u8 op, u32 uid, u32 origin, u32 seqs x f64, seqs x vector -> u8 0, u32 pending
import { VECTOR_BYTES, VECTOR_SIZE } from "../../engine-wasm/assembly/layout.js";
import { type MessageReader, MessageWriter } from "./bytes.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";

export interface NumberedModel {
  number: number;
  /** Number of the oldest model whose vectors are comparable with this model's. */
  since: number;
  /** Number of documents in the index when the model was trained. */
  documents: number;
  /** Identifies the fields that the model was trained on: equal numbers mean equal fields. */
  fields: number;
  /** Unix seconds. */
  trainedAt: number;
  /** Training time in milliseconds. */
  tookMs: number;
  bytes: Uint8Array;
}

export interface WeightedTerm {
  term: string;
  weight: number;
}

export interface EmbedRequest {
  uid: number;
  terms: readonly WeightedTerm[];
  /** Documents whose vectors are also requested. */
  seqs: readonly number[];
}

export interface EmbedReply {
  /** Null if the model knows none of the terms. */
  query: Float32Array | null;
  /** Vector records of VECTOR_BYTES each, in the order of the seqs. */
  vectors: Uint8Array;
}

export interface SimilaritiesRequest {
  uid: number;
  query: Float32Array;
  seqs: readonly number[];
}

export interface SampleRequest {
  uid: number;
  generation: number;
  limit: number;
}

export interface SampledDocument {
  hash: bigint;
  seq: number;
}

export interface PendingRequest {
  uid: number;
  limit: number;
  /** The answer ends with the document that brings it to this size. */
  bytesMax: number;
}

export interface PendingDocument {
  seq: number;
  raw: Uint8Array;
}

export interface PutVectorsRequest {
  uid: number;
  origin: number;
  /** Ascending. */
  seqs: readonly number[];
  vectors: Uint8Array;
}

const QUERY_BYTES = VECTOR_SIZE * 4;

function queryBytes(query: Float32Array): Uint8Array {
  return new Uint8Array(query.buffer, query.byteOffset, query.byteLength);
}

function readQuery(reader: MessageReader): Float32Array {
  const query = new Float32Array(VECTOR_SIZE);
  queryBytes(query).set(reader.bytes(QUERY_BYTES));
  return query;
}

function putSeqs(writer: MessageWriter, seqs: ArrayLike<number>): MessageWriter {
  writer.u32(seqs.length);
  for (let i = 0; i < seqs.length; i++) writer.whole(seqs[i]!);
  return writer;
}

function readSeqs(reader: MessageReader): number[] {
  const seqs = new Array<number>(reader.count(8));
  for (let i = 0; i < seqs.length; i++) seqs[i] = reader.whole();
  return seqs;
}

const MODEL_HEAD_BYTES = 24;
const NO_MODEL = { number: 0, since: 0, documents: 0, fields: 0, trainedAt: 0, tookMs: 0 };

function putModel(writer: MessageWriter, model: NumberedModel): MessageWriter {
  const { number, since, documents, fields, trainedAt, tookMs, bytes } = model;
  writer.u32(number).u32(since).u32(documents).u32(fields).u32(trainedAt).u32(tookMs);
  return writer.bytes(bytes);
}

function readModel(reader: MessageReader): NumberedModel {
  const head = { number: reader.u32(), since: reader.u32(), documents: reader.u32(), fields: reader.u32() };
  const trained = { trainedAt: reader.u32(), tookMs: reader.u32() };
  return { ...head, ...trained, bytes: reader.rest() };
}

export function encodeModel(uid: number, model: NumberedModel): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(5 + MODEL_HEAD_BYTES + model.bytes.length).u8(Op.MODEL).u32(uid);
  return putModel(writer, model).finish();
}

/** Decodes the payload of MODEL, which follows the op byte. The model is a view into the message. */
export function decodeModel(reader: MessageReader): NumberedModel & { uid: number } {
  return { uid: reader.u32(), ...readModel(reader) };
}

export function encodeModelOf(uid: number): Uint8Array<ArrayBuffer> {
  return new MessageWriter(5).u8(Op.MODEL_OF).u32(uid).finish();
}

export function encodeModelOfReply(model: NumberedModel | null): Uint8Array<ArrayBuffer> {
  const sent = model ?? { ...NO_MODEL, bytes: new Uint8Array(0) };
  return putModel(new MessageWriter(1 + MODEL_HEAD_BYTES + sent.bytes.length).u8(REPLY_OK), sent).finish();
}

/** Null if the shard has no model. */
export function decodeModelOfReply(reply: Uint8Array): NumberedModel | null {
  const model = readModel(openReply(reply));
  return model.number === 0 ? null : model;
}

export function encodeEmbed({ uid, terms, seqs }: EmbedRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter().u8(Op.EMBED).u32(uid).u16(terms.length);
  for (const { term, weight } of terms) writer.f32(weight).text(term);
  return putSeqs(writer, seqs).finish();
}

/** Decodes the payload of EMBED, which follows the op byte. */
export function decodeEmbed(reader: MessageReader): EmbedRequest {
  const uid = reader.u32();
  const terms = Array.from({ length: reader.u16() }, () => {
    const weight = reader.f32();
    return { weight, term: reader.text() };
  });
  const request = { uid, terms, seqs: readSeqs(reader) };
  reader.end();
  return request;
}

export function encodeEmbedReply({ query, vectors }: EmbedReply): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(2 + QUERY_BYTES + vectors.length).u8(REPLY_OK).u8(query === null ? 0 : 1);
  if (query !== null) writer.bytes(queryBytes(query));
  return writer.bytes(vectors).finish();
}

export function decodeEmbedReply(reply: Uint8Array): EmbedReply {
  const reader = openReply(reply);
  const query = reader.u8() === 0 ? null : readQuery(reader);
  return { query, vectors: reader.rest() };
}

export function encodeSimilarities({
  uid,
  query,
  seqs,
}: Omit<SimilaritiesRequest, "seqs"> & { seqs: ArrayLike<number> }): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + QUERY_BYTES + 4 + seqs.length * 8).u8(Op.SIMILARITIES).u32(uid);
  return putSeqs(writer.bytes(queryBytes(query)), seqs).finish();
}

/** Decodes the payload of SIMILARITIES, which follows the op byte. */
export function decodeSimilarities(reader: MessageReader): SimilaritiesRequest {
  const request = { uid: reader.u32(), query: readQuery(reader), seqs: readSeqs(reader) };
  reader.end();
  return request;
}

export function encodeSimilaritiesReply(similarities: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(similarities.buffer, similarities.byteOffset, similarities.byteLength);
  return new MessageWriter(1 + bytes.length).u8(REPLY_OK).bytes(bytes).finish();
}

export function decodeSimilaritiesReply(reply: Uint8Array): Float32Array {
  const bytes = openReply(reply).rest();
  const similarities = new Float32Array(bytes.length / 4);
  new Uint8Array(similarities.buffer).set(bytes);
  return similarities;
}

export function encodeSample({ uid, generation, limit }: SampleRequest): Uint8Array<ArrayBuffer> {
  return new MessageWriter(17).u8(Op.SAMPLE).u32(uid).whole(generation).u32(limit).finish();
}

/** Decodes the payload of SAMPLE, which follows the op byte. */
export function decodeSample(reader: MessageReader): SampleRequest {
  const request = { uid: reader.u32(), generation: reader.whole(), limit: reader.u32() };
  reader.end();
  return request;
}

export function encodeSampleReply(sampled: readonly SampledDocument[]): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(5 + sampled.length * 16).u8(REPLY_OK).u32(sampled.length);
  for (const { hash, seq } of sampled) writer.u64(hash).whole(seq);
  return writer.finish();
}

export function decodeSampleReply(reply: Uint8Array): SampledDocument[] {
  const reader = openReply(reply);
  const sampled = Array.from({ length: reader.count(16) }, () => {
    const hash = reader.u64();
    return { hash, seq: reader.whole() };
  });
  reader.end();
  return sampled;
}

export function encodePending({ uid, limit, bytesMax }: PendingRequest): Uint8Array<ArrayBuffer> {
  return new MessageWriter(13).u8(Op.PENDING).u32(uid).u32(limit).u32(bytesMax).finish();
}

/** Decodes the payload of PENDING, which follows the op byte. */
export function decodePending(reader: MessageReader): PendingRequest {
  const request = { uid: reader.u32(), limit: reader.u32(), bytesMax: reader.u32() };
  reader.end();
  return request;
}

export function encodePendingReply(documents: readonly PendingDocument[]): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter().u8(REPLY_OK).u32(documents.length);
  for (const { seq, raw } of documents) writer.whole(seq).block(raw);
  return writer.finish();
}

/** The documents are views into the reply. */
export function decodePendingReply(reply: Uint8Array): PendingDocument[] {
  const reader = openReply(reply);
  const documents = Array.from({ length: reader.count(12) }, () => {
    const seq = reader.whole();
    return { seq, raw: reader.block() };
  });
  reader.end();
  return documents;
}

export function encodePutVectors({ uid, origin, seqs, vectors }: PutVectorsRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(13 + seqs.length * (8 + VECTOR_BYTES)).u8(Op.PUT_VECTORS).u32(uid);
  return putSeqs(writer.u32(origin), seqs).bytes(vectors).finish();
}

/** Decodes the payload of PUT_VECTORS, which follows the op byte. */
export function decodePutVectors(reader: MessageReader): PutVectorsRequest {
  const request = { uid: reader.u32(), origin: reader.u32(), seqs: readSeqs(reader), vectors: reader.rest() };
  if (request.vectors.length !== request.seqs.length * VECTOR_BYTES)
    throw new ShardError(SHARD_BAD_MESSAGE, "a vector for each document");
  return request;
}

export function encodePutVectorsReply(pending: number): Uint8Array<ArrayBuffer> {
  return new MessageWriter(5).u8(REPLY_OK).u32(pending).finish();
}

/** Returns the number of documents still waiting. */
export function decodePutVectorsReply(reply: Uint8Array): number {
  const reader = openReply(reply);
  const pending = reader.u32();
  reader.end();
  return pending;
}
