// Vector requests that tests send to a shard, and vectors that are easy to tell apart.
import { VECTOR_BYTES, VECTOR_SIZE } from "../../../../engine-wasm/assembly/layout.js";
import { encodeNearest } from "../../../../engine-wasm/host/programs/nearest-program.js";
import {
  decodeNearestResult,
  type NearestResult,
} from "../../../../engine-wasm/host/programs/nearest-result.js";
import type { SearchProgram } from "../../../../engine-wasm/host/programs/search-program.js";
import { EVERY_DOCUMENT, encodeSearch } from "../../../../engine-wasm/host/programs/search-program.js";
import { encodePolicy, type VectorPolicy } from "../../../../shards/protocol/control.js";
import { decodeResult, encodeNearestRequest } from "../../../../shards/protocol/program.js";
import { decodeEmptyReply } from "../../../../shards/protocol/reply.js";
import * as vectors from "../../../../shards/protocol/vectors.js";
import { engineModule, SCHEMA, type TestShard, UID } from "../harness.js";

export const PUSHED: VectorPolicy = { source: "pushed", origin: 0x80000000 };
export const ENDPOINT: VectorPolicy = { source: "endpoint", origin: 0x80000001 };
export const DOCUMENTS: VectorPolicy = { source: "documents", origin: 0 };

/** Returns 512 numbers generated from a seed. */
export function numbers(seed: number): number[] {
  let state = seed + 1;
  return Array.from({ length: VECTOR_SIZE }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** Returns a model trained on the given documents. */
export async function trainedModel(
  number: number,
  since: number,
  bodies: readonly unknown[],
): Promise<vectors.NumberedModel> {
  const module = await engineModule();
  const documents = bodies.map((body, i) => ({ seq: i + 1, raw: Buffer.from(JSON.stringify(body)) }));
  const slots = [{ slot: 0, weight: 1, stemmed: false }];
  const bytes = module.train(SCHEMA, documents, { slots, number, termsMax: 1000, previous: null })!;
  return { number, since, documents: bodies.length, fields: 1, trainedAt: 1, tookMs: 1, bytes };
}

export class VectorShard {
  readonly test: TestShard;

  constructor(test: TestShard) {
    this.test = test;
  }

  query(seed: number): Float32Array {
    return this.test.workbench.queryVector(Float32Array.from(numbers(seed)))!;
  }

  async setPolicy(policy: VectorPolicy): Promise<void> {
    decodeEmptyReply(await this.test.ask(encodePolicy(UID, policy)));
  }

  async setModel(model: vectors.NumberedModel): Promise<void> {
    decodeEmptyReply(await this.test.ask(vectors.encodeModel(UID, model)));
  }

  async modelOf(): Promise<vectors.NumberedModel | null> {
    return vectors.decodeModelOfReply(await this.test.ask(vectors.encodeModelOf(UID)));
  }

  /** Returns the nearest documents' seqs, most similar code first. */
  async nearest(
    query: Float32Array,
    wanted: number,
    more: Partial<SearchProgram> = {},
    generation = this.test.generation,
  ): Promise<number[]> {
    return Array.from((await this.nearestRows(query, wanted, more, generation)).seqs);
  }

  async nearestRows(
    query: Float32Array,
    wanted: number,
    more: Partial<SearchProgram> = {},
    generation = this.test.generation,
  ): Promise<NearestResult> {
    const request = {
      uid: UID,
      generation,
      oldestGeneration: this.test.oldest ?? this.test.generation,
      program: encodeNearest(query, wanted, encodeSearch({ ...EVERY_DOCUMENT, k: 0, ...more })),
    };
    const reply = decodeResult(await this.test.ask(encodeNearestRequest(request)));
    return decodeNearestResult(reply);
  }

  async similarities(query: Float32Array, seqs: readonly number[]): Promise<number[]> {
    const reply = await this.test.ask(vectors.encodeSimilarities({ uid: UID, query, seqs }));
    return Array.from(vectors.decodeSimilaritiesReply(reply));
  }

  async embed(terms: readonly string[], seqs: readonly number[] = []): Promise<vectors.EmbedReply> {
    const weighted = terms.map((term) => ({ term, weight: 1 }));
    return vectors.decodeEmbedReply(
      await this.test.ask(vectors.encodeEmbed({ uid: UID, terms: weighted, seqs })),
    );
  }

  async pending(limit = 1000, bytesMax = 2 ** 20): Promise<vectors.PendingDocument[]> {
    return vectors.decodePendingReply(
      await this.test.ask(vectors.encodePending({ uid: UID, limit, bytesMax })),
    );
  }

  /**
   * Stores a vector for each seq, generated from the given seed. Returns the number of documents that still
   * need a vector.
   */
  async put(given: ReadonlyMap<number, number>, origin = ENDPOINT.origin): Promise<number> {
    const seqs = [...given.keys()];
    const records = Buffer.alloc(seqs.length * VECTOR_BYTES);
    for (const [i, seq] of seqs.entries()) {
      const record = this.test.workbench.vectorOf(Float32Array.from(numbers(given.get(seq)!)))!;
      records.set(record, i * VECTOR_BYTES);
    }
    const request = { uid: UID, origin, seqs, vectors: records };
    return vectors.decodePutVectorsReply(await this.test.ask(vectors.encodePutVectors(request)));
  }

  async sample(limit: number): Promise<vectors.SampledDocument[]> {
    const { generation } = this.test;
    return vectors.decodeSampleReply(
      await this.test.ask(vectors.encodeSample({ uid: UID, generation, limit })),
    );
  }
}
