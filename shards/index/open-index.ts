// Opens an index from the database, or creates it: reads the manifest, loads the segments into the engine,
// reads the deleted rows, and removes the leftovers of a crash. Rebuilds nothing.

import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import { discardMemory } from "../../engine-wasm/host/runtime/discards.js";
import type { ShardSchema, VectorPolicy } from "../protocol/control.js";
import { DeadDocuments } from "../segments/dead-documents.js";
import { type DeletedRows, readDeletedRows } from "../segments/deleted-rows.js";
import { decodeManifest, encodeManifest, type Manifest, type SegmentRecord } from "../segments/manifest.js";
import { type LiveSegment, liveOf, OpenSegment } from "../segments/open-segment.js";
import { decodeSchema, putSchema } from "../segments/schema-record.js";
import { deleteUnfinished, readSegmentParts, summarize } from "../segments/segment-pieces.js";
import { Snapshots } from "../segments/snapshots.js";
import { DamagedBytesError } from "../storage/envelope.js";
import {
  describeKey,
  documentKey,
  documentsAfter,
  indexRange,
  manifestKey,
  piecesFrom,
  schemaKey,
} from "../storage/keyspace.js";
import type { KeyRange, Store } from "../storage/store.js";
import { IndexVectors } from "../vectors/index-vectors.js";
import { deleteStrayCodes } from "../vectors/stored-codes.js";
import { Doubt } from "./doubt.js";
import { type IndexHome, ShardIndexState } from "./state.js";

/** Documents are read after loading if the segments' total size is at least this; see turnToDocuments. */
const TURN_BYTES_MIN = 8 * 1024 * 1024;
const TURN_DOCUMENTS = 256;

/**
 * Returns the index as last committed. If there is none and it was not `made` before, creates one with
 * `schema`. The newer of the stored and the given schema applies. For `published`, see OpenRequest. Throws
 * the envelope's errors and EngineError("damaged").
 */
export async function openIndex(
  { home, engine, made, published }: { home: IndexHome; engine: Engine; made: boolean; published: number },
  uid: number,
  schema: ShardSchema,
  policy: VectorPolicy,
): Promise<ShardIndexState> {
  const { store } = home;
  const stored = await store.get(manifestKey(uid));
  if (stored === undefined && !made) return create(home, engine, uid, schema, policy);
  if (stored === undefined) throw new DamagedBytesError(`index ${uid}, manifest: missing`);
  const manifest = decodeManifest(stored, `index ${uid}, manifest`);
  await deleteUnfinished(store, uid);
  await checkNewest(store, uid, manifest);
  const doubt = new Doubt(published, manifest);
  if (doubt.hasCleared) {
    // Must come before deleting what taking back these writes would need. LevelDB keeps batches in order.
    const value = encodeManifest({ ...manifest, ...doubt.with([]) });
    await store.batch([{ type: "put", key: manifestKey(uid), value }], { sync: false });
    doubt.committed([], manifest.generation, new Map());
  }
  const dead = await DeadDocuments.open(store, uid, doubt.first);
  const vectors = await IndexVectors.open(uid, home, engine, policy);
  await deleteStrayCodes(store, uid, new Set(manifest.segments.map(({ id }) => id)));
  const deleted = new Map<number, DeletedRows>();
  const entries: LiveSegment[] = [];
  for (const record of manifest.segments) {
    const segment = await load(store, engine, record, uid);
    discardMemory(record.bytes);
    await vectors.load(segment);
    const rows = await readDeletedRows(store, uid, record);
    if (rows.count > 0) deleted.set(record.id, rows);
    entries.push({ segment, live: liveOf(engine, rows, segment) });
  }
  await turnToDocuments(store, uid, manifest);
  const known = await readSchema(store, uid);
  const state = new ShardIndexState({
    uid,
    home,
    engine,
    schema: known,
    generation: manifest.generation,
    maxSeq: manifest.maxSeq,
    nextSegment: manifest.nextSegment,
    deleted,
    snapshots: new Snapshots(engine, manifest.generation, entries, manifest.maxSeq, (segment) =>
      vectors.comparableCodes(segment),
    ),
    dead,
    doubt,
    vectors,
  });
  if (schema.version > known.version) await changeSchema(state, schema);
  return state;
}

/** Commits a newer schema, which makes segments with older versions stale. Must run in the index's lane. */
export async function changeSchema(state: ShardIndexState, schema: ShardSchema): Promise<void> {
  if (schema.version <= state.schema.version) return;
  await state.commit([putSchema(state.uid, schema)], { ...state.present, schema });
  state.schema = schema;
}

async function create(
  home: IndexHome,
  engine: Engine,
  uid: number,
  schema: ShardSchema,
  policy: VectorPolicy,
): Promise<ShardIndexState> {
  const left = await firstKey(home.store, indexRange(uid));
  if (left !== undefined) {
    throw new DamagedBytesError(`index ${uid}, manifest: missing, but there is ${describeKey(left)}`);
  }
  const manifest: Manifest = {
    generation: 0,
    maxSeq: 0,
    nextSegment: 1,
    schemaVersion: schema.version,
    segments: [],
    published: 0,
    inDoubt: [],
  };
  const value = encodeManifest(manifest);
  await home.store.batch([putSchema(uid, schema), { type: "put", key: manifestKey(uid), value }], {
    sync: home.sync,
  });
  const vectors = await IndexVectors.open(uid, home, engine, policy);
  return new ShardIndexState({
    uid,
    home,
    engine,
    schema,
    generation: 0,
    maxSeq: 0,
    nextSegment: 1,
    deleted: new Map(),
    snapshots: new Snapshots(engine, 0, [], 0, (segment) => vectors.comparableCodes(segment)),
    dead: new DeadDocuments(),
    doubt: new Doubt(),
    vectors,
  });
}

/**
 * Throws if the database has lost the newest manifest and returned an older one. In that case the database
 * contains documents or segments newer than the manifest.
 */
async function checkNewest(store: Store, uid: number, { maxSeq, nextSegment }: Manifest): Promise<void> {
  for (const range of [documentsAfter(uid, maxSeq), piecesFrom(uid, nextSegment)]) {
    const newer = await firstKey(store, range);
    if (newer === undefined) continue;
    throw new DamagedBytesError(`index ${uid}, manifest: older than ${describeKey(newer)}`);
  }
}

async function firstKey(store: Store, range: KeyRange): Promise<Uint8Array | undefined> {
  for await (const key of store.keys(range)) return key;
  return undefined;
}

async function readSchema(store: Store, uid: number): Promise<ShardSchema> {
  const stored = await store.get(schemaKey(uid));
  if (stored === undefined) throw new DamagedBytesError(`index ${uid}, schema: missing`);
  return decodeSchema(stored, `index ${uid}, schema`);
}

/**
 * Reads documents from all over a large index so that their tables push the segments' tables out of LevelDB's
 * table cache. Segments are not read again after loading, but their tables would otherwise stay mapped.
 */
async function turnToDocuments(store: Store, uid: number, { segments }: Manifest): Promise<void> {
  const first = segments[0]?.firstSeq ?? 0;
  const last = segments.at(-1)?.lastSeq ?? 0;
  if (segments.reduce((sum, { bytes }) => sum + bytes, 0) < TURN_BYTES_MIN) return;
  await store.getMany(
    Array.from({ length: TURN_DOCUMENTS }, (_, i) =>
      documentKey(uid, Math.floor(first + ((last - first) * i) / TURN_DOCUMENTS)),
    ),
  );
}

/** Reads a segment directly into the engine's memory, which nothing else uses yet. */
async function load(store: Store, engine: Engine, record: SegmentRecord, uid: number): Promise<OpenSegment> {
  const what = `index ${uid}, segment ${record.id}`;
  const address = engine.reserveSegment(record.bytes);
  await readSegmentParts(store, uid, record, (at, part) => engine.fill(address, at, part));
  const { rows, terms, firstSeq, lastSeq } = summarize(engine.segmentView(address, record.bytes), what);
  if (rows !== record.rows || firstSeq !== record.firstSeq || lastSeq !== record.lastSeq) {
    throw new DamagedBytesError(`${what}: not the one the manifest names`);
  }
  engine.attachFilled(address, record.bytes);
  return new OpenSegment(engine, address, record, terms);
}
