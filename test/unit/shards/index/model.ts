// A naive model of an index's contents: a map of documents, changed one operation at a time.

import { DOC_WRONG_TYPE } from "../../../../engine-wasm/assembly/layout.js";
import { Action, DOC_EXISTS, DOC_MISSING } from "../../../../shards/protocol/ops.js";
import type { TestDocument } from "../harness.js";

export type Body = Record<string, unknown>;

export class Model {
  readonly documents = new Map<string, Body>();

  /** Applies a request. Returns each failed document's position and code. */
  apply(action: Action, documents: readonly TestDocument[]): [index: number, code: number][] {
    const failures: [number, number][] = [];
    for (const [i, { id, body }] of documents.entries()) {
      const code = this.#applyOne(action, id, body as Body);
      if (code !== 0) failures.push([i, code]);
    }
    return failures;
  }

  #applyOne(action: Action, id: string, body: Body): number {
    const before = this.documents.get(id);
    if (action === Action.CREATE && before !== undefined) return DOC_EXISTS;
    if ((action === Action.UPDATE || action === Action.DELETE) && before === undefined) return DOC_MISSING;
    if (action === Action.DELETE) {
      this.documents.delete(id);
      return 0;
    }
    const partial = action === Action.UPDATE || action === Action.EMPLACE;
    const after = partial && before !== undefined ? { ...before, ...body, id } : body;
    if (typeof after.price === "string") return DOC_WRONG_TYPE;
    this.documents.delete(id);
    this.documents.set(id, after);
    return 0;
  }

  priced(low: number, high: number): string[] {
    return [...this.documents.values()]
      .filter(({ price }) => typeof price === "number" && price >= low && price <= high)
      .map(({ id }) => String(id));
  }
}
