// Commands that change index records together with the records that the indexes own.
import {
  deleteAllOwned,
  exchangeNamed,
  type OwnedLists,
  type OwnedState,
  replaceOwned,
} from "./owned-records.js";
import { DROP_KIND, INDEX_KIND, type IndexRecord, logOf } from "./records/index-record.js";
import { type Applied, removed, stored, without } from "./records/kind.js";

export interface IndexRecords extends OwnedState {
  /** Index records by uid. */
  readonly indexes: ReadonlyMap<number, IndexRecord>;
  /**
   * Data numbers that the shards may still have data for but must drop: those of deleted indexes, and the
   * home data numbers of indexes that have been spread.
   */
  readonly toDrop: ReadonlySet<number>;
}

export type IndexCommand =
  | { readonly type: "index.put"; readonly record: IndexRecord }
  | { readonly type: "index.delete"; readonly uid: number }
  | { readonly type: "index.dropped"; readonly uid: number }
  /**
   * Records that the index's documents are now spread. `home` is the data number of the documents at home,
   * which must be dropped.
   */
  | { readonly type: "index.spread"; readonly uid: number; readonly home: number }
  /**
   * The two indexes exchange names. With `drop`, `target` takes over the name of the index `uid`, which is
   * then deleted.
   */
  | { readonly type: "index.swap"; readonly uid: number; readonly target: number; readonly drop: boolean }
  /** Replaces an index record and the lists given in `owned`. Its other lists stay unchanged. */
  | { readonly type: "index.copy"; readonly record: IndexRecord; readonly owned: OwnedLists };

export function putIndex(state: IndexRecords, record: IndexRecord): Applied<IndexRecords> {
  return {
    indexes: new Map(state.indexes).set(record.uid, record),
    nextIndexUid: Math.max(state.nextIndexUid, record.uid + 1),
    nextIndexId: Math.max(state.nextIndexId, record.id + 1),
    changes: [stored(INDEX_KIND, record.uid, record)],
  };
}

/**
 * Deletes the index and everything it owns. Its uid stays in `toDrop` until the shards have dropped its data.
 */
export function deleteIndex(state: IndexRecords, uid: number): Applied<IndexRecords> {
  const { owned, changes } = deleteAllOwned(state, uid);
  return {
    indexes: without(state.indexes, uid),
    owned,
    toDrop: new Set(state.toDrop).add(uid),
    changes: [removed(INDEX_KIND, uid), stored(DROP_KIND, uid, {}), ...changes],
  };
}

export function forgetDropped(state: IndexRecords, uid: number): Applied<IndexRecords> {
  const toDrop = new Set(state.toDrop);
  toDrop.delete(uid);
  return { toDrop, changes: [removed(DROP_KIND, uid)] };
}

export function spreadIndex(state: IndexRecords, uid: number, home: number): Applied<IndexRecords> {
  const { isHome: _, ...record } = state.indexes.get(uid)!;
  return {
    indexes: new Map(state.indexes).set(uid, record),
    toDrop: new Set(state.toDrop).add(home),
    changes: [stored(INDEX_KIND, uid, record), stored(DROP_KIND, home, {})],
  };
}

/**
 * Exchanges the names of two indexes, which must exist and belong to one tenant. Records that stay with the
 * data keep their index's uid; records that stay with a name get the other uid.
 */
export function swapIndexes(
  state: IndexRecords,
  uid: number,
  target: number,
  drop: boolean,
): Applied<IndexRecords> {
  const displaced = state.indexes.get(uid)!;
  const before = state.indexes.get(target)!;
  const live = withNameOf(before, displaced);
  const indexes = new Map(state.indexes).set(target, live);
  const { owned, changes: exchanged } = exchangeNamed(state, uid, target);
  const changes = [stored(INDEX_KIND, target, live), ...exchanged];
  if (drop) {
    const deleted = deleteIndex({ ...state, indexes, owned }, uid);
    return { ...deleted, changes: [...changes, ...deleted.changes] };
  }
  const renamed = withNameOf(displaced, before);
  return {
    indexes: indexes.set(uid, renamed),
    owned,
    changes: [...changes, stored(INDEX_KIND, uid, renamed)],
  };
}

export function copyToIndex(
  state: IndexRecords,
  record: IndexRecord,
  lists: OwnedLists,
): Applied<IndexRecords> {
  const replaced = replaceOwned(state, record.uid, lists);
  return {
    ...replaced,
    indexes: new Map(state.indexes).set(record.uid, record),
    changes: [stored(INDEX_KIND, record.uid, record), ...replaced.changes],
  };
}

/**
 * Returns `record` under the name of `other`, with the query log of `other`, because a log stays with its
 * name.
 */
function withNameOf({ log: _log, ...record }: IndexRecord, other: IndexRecord): IndexRecord {
  const log = logOf(other);
  return { ...record, name: other.name, ...(log === record.uid ? {} : { log }) };
}
