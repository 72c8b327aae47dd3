// The request formats of embedding servers. A wire defines the paths, bodies and answers of one kind of
// server. embedding-request.ts contains what all of them share: when to send requests, how to treat failures,
// which vectors are valid.
import type { WireName } from "../catalog/definition/embedder-sources.js";
import { isObject } from "../ground/input/json-value.js";
import { FIXED_LIMITS } from "../ground/limits.js";
import { EndpointError, type InterfacePath } from "./model-server.js";

export interface EmbeddingWire extends InterfacePath {
  /** Builds the JSON body that requests a vector for each text. */
  body(model: string, texts: readonly string[]): unknown;
  /**
   * Returns the answer's vectors in the order of the texts, without validating them. Throws EndpointError if
   * it is not an answer for `count` texts.
   */
  vectors(answer: unknown, count: number): readonly unknown[];
}

export const EMBEDDING_WIRES: Readonly<Record<WireName, EmbeddingWire>> = {
  openai: {
    root: "/v1",
    path: "/embeddings",
    body: (model, texts) => ({
      model,
      input: texts,
      dimensions: FIXED_LIMITS.vectorNumbers,
      encoding_format: "float",
    }),
    vectors(answer, count) {
      const items = listOf(isObject(answer) ? answer.data : undefined, count);
      const vectors = new Array<unknown>(count).fill(undefined);
      items.forEach((item, i) => {
        if (!isObject(item)) throw badAnswer("without a list of vectors");
        const { index = i, embedding = null } = item;
        if (typeof index !== "number" || !(index in vectors) || vectors[index] !== undefined)
          throw badAnswer("with vectors whose index matches no text");
        vectors[index] = embedding;
      });
      return vectors;
    },
  },
};

function listOf(items: unknown, count: number): readonly unknown[] {
  if (!Array.isArray(items)) throw badAnswer("without a list of vectors");
  if (items.length !== count) throw badAnswer(`with ${items.length} vectors for ${count} texts`);
  return items;
}

export function badAnswer(what: string): EndpointError {
  return new EndpointError(`the model's server answered ${what}`);
}
