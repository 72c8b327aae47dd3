// Query vectors from outside the index's own model: sent by the client, or computed by the endpoint in the
// settings.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { EmbeddingEndpoints } from "../../models/embedding-endpoints.js";
import type { QueryRequest } from "../../question/request/query-request.js";

export interface GivenVector {
  /** Rotated and normalised to length 1, like stored vectors; null for a query without a vector. */
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

  async of(record: IndexRecord, { q, browse, vector }: QueryRequest): Promise<GivenVector> {
    if (vector !== null) return { vector: this.#workbench.queryVector(vector), failed: false };
    const endpoint = browse ? null : this.#endpoints.of(record);
    if (endpoint === null) return NOT_GIVEN;
    const embedded = await endpoint.embedQuery(q);
    if (embedded === null) return { vector: null, failed: true };
    return { vector: this.#workbench.queryVector(embedded), failed: false };
  }
}
