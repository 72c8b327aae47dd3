// Where the vectors of an index come from: its setting, and for "auto" its size. Pure.
import { crc32 } from "node:zlib";
import type { VectorPolicy } from "../../../shards/protocol/control.js";
import type { IndexRecord } from "../records/index-record.js";

/** From so many documents to so many, "auto" learns from them. Fewer tell too little, more should be asked for. */
const AUTO_DOCUMENTS_MIN = 200;
const AUTO_DOCUMENTS_MAX = 200_000;

/** Origins from here on are those of vectors from outside; models have smaller numbers. */
const OUTSIDE = 0x80000000;

export type VectorsOf = Pick<IndexRecord, "settings">;

/** `documents`: how many the index has. */
export function vectorPolicy({ settings: { embedder } }: VectorsOf, documents: number): VectorPolicy {
  switch (embedder.source) {
    case "auto": {
      const learns = documents >= AUTO_DOCUMENTS_MIN && documents <= AUTO_DOCUMENTS_MAX;
      return { source: learns ? "documents" : "none", origin: 0 };
    }
    case "documents":
    case "none":
      return { source: embedder.source, origin: 0 };
    case "pushed":
      return { source: "pushed", origin: OUTSIDE };
    case "endpoint": {
      const { url, model, fields } = embedder;
      const what = crc32(JSON.stringify([url, model, fields]));
      return { source: "endpoint", origin: (what | OUTSIDE) >>> 0 };
    }
  }
}
