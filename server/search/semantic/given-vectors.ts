// Provides query vectors that do not come from the index's own model. The client sends them, or the embedding
// endpoint in the index's settings computes them.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import type { EmbeddingEndpoints } from "../../models/embedding-endpoints.js";
import type { QueryRequest } from "../../question/request/query-request.js";

export interface GivenVector {
  /**
   * The vector, rotated and normalised to length 1 like stored vectors. Null if the client sent none and no
   * endpoint computed one.
   */
  readonly vector: Float32Array | null;
  /** True if the endpoint should have computed a vector but failed. */
  readonly failed: boolean;
}

const NOT_GIVEN: GivenVector = { vector: null, failed: false };

export class GivenVectors {
  readonly #workbench: Workbench;
  readonly #endpoints: EmbeddingEndpoints;

  constructor(workbench: Workbench, endpoints: EmbeddingEndpoints) {
    this.#workbench = workbench;
    this.#endpoints = endpoints;
  }

  *of(record: IndexRecord, { q, browse, vector }: QueryRequest): Work<GivenVector> {
    if (vector !== null) return { vector: this.#workbench.queryVector(vector), failed: false };
    const endpoint = browse ? null : this.#endpoints.of(record);
    if (endpoint === null) return NOT_GIVEN;
    const embedded = yield* settled(endpoint.embedQuery(q));
    if (embedded === null) return { vector: null, failed: true };
    return { vector: this.#workbench.queryVector(embedded), failed: false };
  }
}
