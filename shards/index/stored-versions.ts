// Finds the live document with a given id. Segments contain only 64-bit id hashes, so the id in the stored
// document is compared too. A hash collision therefore never replaces a different document.
import type { FoundId } from "../../engine-wasm/host/instance/engine.js";
import { type DocumentRecord, decodeDocument } from "../segments/document-record.js";
import type { Snapshot } from "../segments/snapshots.js";
import { DamagedBytesError } from "../storage/envelope.js";
import { describeKey, documentKey } from "../storage/keyspace.js";
import type { Slices } from "./slices.js";
import type { ShardIndexState } from "./state.js";

/** The live document with a given id in the newest snapshot. */
export interface StoredVersion {
  entry: number;
  row: number;
  seq: number;
  raw: Uint8Array;
}

export interface WantedId {
  id: string;
  hash: bigint;
}

/** Ids looked up at once, which takes a fraction of a millisecond. */
const IDS_PER_STEP = 512;

function hashBytes(wanted: readonly WantedId[]): Uint8Array {
  const hashes = new BigUint64Array(wanted.length);
  for (const [i, { hash }] of wanted.entries()) hashes[i] = hash;
  return new Uint8Array(hashes.buffer);
}

/**
 * Returns the live versions in the newest snapshot, by id. `wanted` may contain duplicate ids. Runs in the
 * index's lane, so no write or merge changes the rows between two slices.
 */
export async function findVersions(
  state: ShardIndexState,
  wanted: readonly WantedId[],
  slices: Slices,
): Promise<Map<string, StoredVersion>> {
  const byId = new Map<string, WantedId>();
  for (const one of wanted) byId.set(one.id, one);
  const unique = [...byId.values()];
  const candidates: FoundId[] = [];
  for (let first = 0; first < unique.length; first += IDS_PER_STEP) {
    await slices.pause();
    const hashes = hashBytes(unique.slice(first, first + IDS_PER_STEP));
    for (const found of state.engine.findIds(state.snapshots.newest.address, hashes)) {
      found.hashIndex += first;
      candidates.push(found);
    }
  }
  const versions = new Map<string, StoredVersion>();
  if (candidates.length === 0) return versions;
  const keys = candidates.map(({ seq }) => documentKey(state.uid, seq));
  const values = await state.home.store.getMany(keys);
  for (const [i, { hashIndex, entry, row, seq }] of candidates.entries()) {
    const value = values[i];
    if (value === undefined) throw missingDocument(keys[i]!);
    const { id, raw } = decodeDocument(keys[i]!, value);
    if (id === unique[hashIndex]!.id) versions.set(id, { entry, row, seq, raw });
  }
  return versions;
}

/**
 * Synchronously reads the document with this id that is live in `snapshot`. Returns undefined if there is
 * none.
 */
export function readVersion(
  state: ShardIndexState,
  snapshot: Snapshot,
  wanted: WantedId,
): DocumentRecord | undefined {
  for (const { seq } of state.engine.findIds(snapshot.address, hashBytes([wanted]))) {
    const key = documentKey(state.uid, seq);
    const value = state.home.store.getSync(key);
    if (value === undefined) throw missingDocument(key);
    const record = decodeDocument(key, value);
    if (record.id === wanted.id) return record;
  }
  return undefined;
}

/**
 * Called when a document has no stored value. Throws DamagedBytesError if the document is still live;
 * otherwise it was deleted after the reader's snapshot was taken. Throws SHARD_UNAVAILABLE if the index was
 * closed after the reader started, because it may have been dropped with all its documents.
 */
export function checkGone(state: ShardIndexState, seq: number): void {
  state.checkOpen();
  const { address, entries } = state.snapshots.newest;
  const [place] = state.engine.locate(address, Float64Array.of(seq));
  if (place === undefined || place.entry < 0) return;
  const { segment } = entries[place.entry]!;
  if (!state.deletedRows(segment).has(place.row)) throw missingDocument(documentKey(state.uid, seq));
}

function missingDocument(key: Uint8Array): DamagedBytesError {
  return new DamagedBytesError(`${describeKey(key)}: missing`);
}
