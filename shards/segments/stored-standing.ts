// Reads an index's state in a shard from the manifest alone, without loading the segments.
import type { OpenReply, StandingRequest } from "../protocol/control.js";
import { DamagedBytesError } from "../storage/envelope.js";
import { manifestKey } from "../storage/keyspace.js";
import type { Store } from "../storage/store.js";
import { decodeManifest } from "./manifest.js";

/** Returns zeros if the shard does not have the index and `made` is false. Throws the envelope's errors. */
export async function storedStanding(
  store: Store,
  { uid, schemaVersion, made }: StandingRequest,
): Promise<OpenReply> {
  const stored = await store.get(manifestKey(uid));
  if (stored === undefined && made) throw new DamagedBytesError(`index ${uid}, manifest: missing`);
  if (stored === undefined) return { liveDocs: 0, maxSeq: 0, generation: 0, staleSegments: 0 };
  const manifest = decodeManifest(stored, `index ${uid}, manifest`);
  const newest = Math.max(schemaVersion, manifest.schemaVersion);
  return {
    liveDocs: manifest.segments.reduce((sum, { rows, deleted }) => sum + rows - deleted, 0),
    maxSeq: manifest.maxSeq,
    generation: manifest.generation,
    staleSegments: manifest.segments.filter((segment) => segment.schemaVersion < newest).length,
  };
}
