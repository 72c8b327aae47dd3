// Which live document holds an id. The segments know 64-bit hashes of ids; the stored document settles whether
// it is the same id, so that a collision never replaces a stranger.
import { decodeDocument } from "../segments/document-record.js";
import type { Snapshot } from "../segments/snapshots.js";
import { documentKey } from "../storage/keyspace.js";
import type { IndexState } from "./state.js";
import type { StoredVersion } from "./write-plan.js";

export interface WantedId {
  id: string;
  hash: bigint;
}

function hashBytes(wanted: readonly WantedId[]): Uint8Array {
  const hashes = new BigUint64Array(wanted.length);
  for (const [i, { hash }] of wanted.entries()) hashes[i] = hash;
  return new Uint8Array(hashes.buffer);
}

/** The live versions in the newest snapshot, by id. Ids may repeat. */
export async function findVersions(
  state: IndexState,
  wanted: readonly WantedId[],
): Promise<Map<string, StoredVersion>> {
  const unique = [...new Map(wanted.map((one) => [one.id, one])).values()];
  const candidates = state.engine.findIds(state.snapshots.newest.address, hashBytes(unique));
  const versions = new Map<string, StoredVersion>();
  if (candidates.length === 0) return versions;
  const values = await state.home.store.getMany(candidates.map(({ seq }) => documentKey(state.uid, seq)));
  for (const [i, { hashIndex, entry, row, seq }] of candidates.entries()) {
    const value = values[i];
    if (value === undefined) continue;
    const { id, raw } = decodeDocument(value);
    if (id === unique[hashIndex]!.id) versions.set(id, { entry, row, seq, raw });
  }
  return versions;
}

/** The stored value of the live document with this id in a snapshot, read at once; undefined for none. */
export function readVersion(state: IndexState, snapshot: Snapshot, wanted: WantedId): Uint8Array | undefined {
  for (const { seq } of state.engine.findIds(snapshot.address, hashBytes([wanted]))) {
    const value = state.home.store.getSync(documentKey(state.uid, seq));
    if (value !== undefined && decodeDocument(value).id === wanted.id) return value;
  }
  return undefined;
}
