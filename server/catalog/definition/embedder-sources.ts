// The table of embedder sources. A source says where an index's vectors come from. Settings readers, the
// shards' vector policy, queries and the OpenAPI document use this table. The names are stored on disk, so
// they must never change.
import { crc32 } from "node:zlib";
import type { VectorPolicy } from "../../../shards/protocol/control.js";

/** Where an index's vectors come from. */
export interface EmbedderSettings {
  readonly source: EmbedderSource;
  /** URL of the model server. `url` and `model` are set if and only if the source uses a server. */
  readonly url: string | null;
  readonly model: string | null;
  /** Always null here. The index record stores the sealed key. */
  readonly api_key: null;
  /** Document fields to embed. If null, the searchable fields are embedded. */
  readonly fields: readonly string[] | null;
  readonly dimensions: number;
}

interface SourceEntry {
  /** Describes the source in the OpenAPI document. Null if its name is clear enough. */
  readonly description: string | null;
  /**
   * "learned": a model trained on the index's own documents computes the vectors, so the embedded fields'
   * words must be indexed. "outside": a client or another server provides them, so a query may include its
   * own vector.
   */
  readonly vectors: "learned" | "outside" | "none";
  /** The model server's wire format (server/models/embedding-wires.ts). Null if the source uses no server. */
  readonly wire: string | null;
  /** The vector policy for an index with this many documents, which its shards follow. */
  readonly policy: (settings: Endpoint, documents: number) => VectorPolicy;
}

type Endpoint = Pick<EmbedderSettings, "url" | "model" | "fields">;

/**
 * With "auto", only indexes in this size range learn vectors. Smaller ones have too few documents to learn
 * from. For larger ones, training must be requested explicitly.
 */
const AUTO_DOCUMENTS_MIN = 200;
const AUTO_DOCUMENTS_MAX = 200_000;

/**
 * Smallest origin number for vectors from a client or another server. Learned models have smaller numbers.
 */
const OUTSIDE = 0x80000000;

const LEARNED: VectorPolicy = { source: "documents", origin: 0 };
const NONE: VectorPolicy = { source: "none", origin: 0 };

/**
 * Policy for vectors from a model server: the shards wait for the vectors to arrive. Vectors are compared
 * only if they have the same origin, so the origin number depends on everything that affects the vectors.
 */
function served({ url, model, fields }: Endpoint): VectorPolicy {
  return { source: "endpoint", origin: (crc32(JSON.stringify([url, model, fields])) | OUTSIDE) >>> 0 };
}

export const EMBEDDER_SOURCES = {
  auto: {
    description: null,
    vectors: "learned",
    wire: null,
    policy: (_, documents) =>
      documents >= AUTO_DOCUMENTS_MIN && documents <= AUTO_DOCUMENTS_MAX ? LEARNED : NONE,
  },
  documents: {
    description: "learned from the index's own documents",
    vectors: "learned",
    wire: null,
    policy: () => LEARNED,
  },
  endpoint: {
    description: "an OpenAI-compatible server",
    vectors: "outside",
    wire: "openai",
    policy: served,
  },
  pushed: {
    description: "the documents' embedding",
    vectors: "outside",
    wire: null,
    policy: () => ({ source: "pushed", origin: OUTSIDE }),
  },
  none: { description: null, vectors: "none", wire: null, policy: () => NONE },
} as const satisfies Record<string, SourceEntry>;

export type EmbedderSource = keyof typeof EMBEDDER_SOURCES;
export type WireName = Exclude<(typeof EMBEDDER_SOURCES)[EmbedderSource]["wire"], null>;

/** Names of all sources, in table order. */
export const SOURCE_NAMES = Object.keys(EMBEDDER_SOURCES) as readonly EmbedderSource[];

/** Lists the sources for which `holds` returns true, phrased for a sentence: "endpoint or pushed". */
export function sourcesThat(holds: (entry: SourceEntry) => boolean): string {
  return SOURCE_NAMES.filter((name) => holds(EMBEDDER_SOURCES[name])).join(" or ");
}

/** The vector policy for an index with this many documents, which its shards follow. */
export function vectorPolicy(
  { settings: { embedder } }: { readonly settings: { readonly embedder: EmbedderSettings } },
  documents: number,
): VectorPolicy {
  return EMBEDDER_SOURCES[embedder.source].policy(embedder, documents);
}
