// Reads an index's state in a shard from the manifest alone, without loading the segments.
import type { Standing, StandingRequest } from "../protocol/control.js";
import { DamagedBytesError } from "../storage/envelope.js";
import { manifestKey } from "../storage/keyspace.js";
import type { Store } from "../storage/store.js";
import { decodeManifest } from "./manifest.js";

const NOTHING_STORED: Standing = {
  liveDocs: 0,
  maxSeq: 0,
  generation: 0,
  staleSegments: 0,
  published: 0,
  inDoubt: [],
};

/** Returns zeros if the shard does not have the index and `made` is false. Throws the envelope's errors. */
export async function storedStanding(
  store: Store,
  { uid, schemaVersion, made }: StandingRequest,
): Promise<Standing> {
  const stored = await store.get(manifestKey(uid));
  if (stored === undefined && made) throw new DamagedBytesError(`index ${uid}, manifest: missing`);
  if (stored === undefined) return NOTHING_STORED;
  const manifest = decodeManifest(stored, `index ${uid}, manifest`);
  const newest = Math.max(schemaVersion, manifest.schemaVersion);
  return {
    liveDocs: manifest.segments.reduce((sum, { rows, deleted }) => sum + rows - deleted, 0),
    maxSeq: manifest.maxSeq,
    generation: manifest.generation,
    staleSegments: manifest.segments.filter((segment) => segment.schemaVersion < newest).length,
    published: manifest.published,
    inDoubt: manifest.inDoubt.map(({ generation, shards }) => ({ generation, shards })),
  };
}
