// Rebuilds one index from its stored documents. The raw JSON is the source of truth; segments and manifest
// are derived from it. All parts that are still readable help decide which stored documents are live; a
// superseded version never comes back. New segments are written under marks and activated by one batch, so a
// crash leaves the old state.
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { BATCH_SEGMENT_BYTES } from "../index/limits.js";
import { buildTolerant, type StoredDocument } from "../index/upkeep/reindex-job.js";
import type { ShardSchema } from "../protocol/control.js";
import type { IndexRepair, LostDocument } from "../protocol/offline.js";
import { decodeDocument, encodeDocument, isChecked } from "../segments/document-record.js";
import { encodeManifest, type SegmentRecord } from "../segments/manifest.js";
import { putSchema } from "../segments/schema-record.js";
import { finishedOp, pieceCount, summarize, writePiecesAhead } from "../segments/segment-pieces.js";
import {
  documentRange,
  indexRange,
  kindOfKey,
  manifestKey,
  modelKey,
  numberOfKey,
  segmentOfKey,
} from "../storage/keyspace.js";
import type { Store, StoreOp } from "../storage/store.js";
import type { StoredIndex } from "./index-contents.js";

/**
 * JSON input per built segment. Large, because nothing waits for the build; the server merges the segments
 * later.
 */
const BUILD_BYTES = 4 * BATCH_SEGMENT_BYTES;

interface Verdict {
  /** Seqs of the documents to keep. */
  live: Set<number>;
  lost: LostDocument[];
  warnings: string[];
}

/** Decides which documents are live. Changes nothing. */
function judge(contents: StoredIndex): Verdict {
  const { uid, manifest, segments, documents, dead, unreadable, deadUnreadable } = contents;
  const rowState = rowStates(contents);
  const liveByRows = (seq: number): boolean => {
    const state = rowState.get(seq);
    if (state !== undefined) return state !== "deleted";
    if (manifest === null || seq > manifest.maxSeq) return true;
    // A document without a row was deleted, and a merge has removed its row. If the document's segment is
    // unreadable, it may have a row there, so it counts as live.
    return segments.some(
      ({ record, rows }) => rows === null && record.firstSeq <= seq && seq <= record.lastSeq,
    );
  };
  const newest = new Map<string, number>();
  for (const [seq, id] of documents) {
    if (dead.has(seq) || !liveByRows(seq)) continue;
    newest.set(id, Math.max(newest.get(id) ?? 0, seq));
  }
  const lost = unreadable.filter(({ seq }) => !dead.has(seq) && liveByRows(seq));
  const stored = new Set([...documents.keys(), ...unreadable.map(({ seq }) => seq)]);
  for (const [seq, state] of rowState) if (state === "live" && !stored.has(seq)) lost.push({ seq, id: "" });
  const warnings: string[] = [];
  const blind = manifest === null || segments.some(({ rows, deleted }) => rows === null || deleted === null);
  if (blind && deadUnreadable.length > 0) {
    warnings.push(
      `index ${uid}: documents deleted in generation ${deadUnreadable.join(", ")} may be back: the list of them cannot be read`,
    );
  }
  return { live: new Set(newest.values()), lost: lost.sort((a, b) => a.seq - b.seq), warnings };
}

/** State of each document in the readable segments; "unknown" if the record of deleted rows is unreadable. */
function rowStates({ segments }: StoredIndex): Map<number, "live" | "deleted" | "unknown"> {
  const states = new Map<number, "live" | "deleted" | "unknown">();
  for (const { rows, deleted } of segments) {
    for (const [row, { seq }] of (rows ?? []).entries()) {
      states.set(seq, deleted === null ? "unknown" : deleted.has(row) ? "deleted" : "live");
    }
  }
  return states;
}

/**
 * Reports what a repair would do, and does it unless `dryRun` is set. `schema`: the schema in the catalog.
 */
export async function repairIndex(
  store: Store,
  contents: StoredIndex,
  schema: ShardSchema,
  module: EngineModule,
  dryRun: boolean,
): Promise<IndexRepair> {
  const { live, lost, warnings } = judge(contents);
  if (dryRun) return { documents: live.size, segments: 0, lost, warnings };
  await store.batch(await leftovers(store, contents), { sync: true });
  const workbench = module.workbench();
  let nextSegment = Math.max(contents.manifest?.nextSegment ?? 1, contents.segmentMax + 1);
  const segments: SegmentRecord[] = [];
  const rewritten: StoreOp[] = [];
  for await (const documents of slices(store, contents, live, rewritten)) {
    await store.batch(rewritten.splice(0), { sync: false });
    const { bytes } = await buildTolerant(documents, schema, workbench, workbench);
    const { rows, firstSeq, lastSeq } = summarize(bytes, `index ${contents.uid}, segment ${nextSegment}`);
    const pieces = pieceCount(bytes.length);
    await writePiecesAhead(store, contents.uid, nextSegment, () => bytes, true);
    segments.push({
      id: nextSegment++,
      rows,
      bytes: bytes.length,
      pieces,
      schemaVersion: schema.version,
      firstSeq,
      lastSeq,
      deleted: 0,
    });
  }
  const ops = await switchOps(store, contents, live, segments);
  const maxSeq = [...contents.dead].reduce(
    (max, seq) => Math.max(max, seq),
    Math.max(contents.manifest?.maxSeq ?? 0, contents.seqMax),
  );
  const generation = Math.max(contents.manifest?.generation ?? 0, contents.generationMax);
  // What taking back a write would need is gone, so all writes that this shard may have count as published.
  const published = contents.manifest === null ? Number.MAX_SAFE_INTEGER : generation;
  const counters = { generation, maxSeq, nextSegment, schemaVersion: schema.version };
  const manifest = { ...counters, segments, published, inDoubt: [] };
  const value = encodeManifest(manifest);
  const all: StoreOp[] = [...ops, putSchema(contents.uid, schema)];
  await store.batch([...all, { type: "put", key: manifestKey(contents.uid), value }], { sync: true });
  return { documents: live.size, segments: segments.length, lost, warnings };
}

/**
 * Returns the operations that delete pieces left by an interrupted repair or merge. Their segment numbers are
 * not reused.
 */
async function leftovers(store: Store, { uid, unfinished }: StoredIndex): Promise<StoreOp[]> {
  const ops: StoreOp[] = [];
  if (unfinished.size === 0) return ops;
  for await (const key of store.keys(indexRange(uid))) {
    if (kindOfKey(key) === "segment" && unfinished.has(segmentOfKey(key))) {
      ops.push({ type: "del", key: Uint8Array.from(key) });
    }
  }
  return [...ops, ...Array.from(unfinished, (segment) => finishedOp(uid, segment))];
}

/**
 * Yields live documents, ascending by seq. Appends to `rewritten` the operations that add a checksum to
 * documents stored without one.
 */
async function* slices(
  store: Store,
  { uid, seqMax }: StoredIndex,
  live: ReadonlySet<number>,
  rewritten: StoreOp[],
): AsyncIterableIterator<StoredDocument[]> {
  let slice: StoredDocument[] = [];
  let bytes = 0;
  for await (const [key, value] of store.entries(documentRange(uid, 0, seqMax))) {
    const seq = numberOfKey(key);
    if (!live.has(seq)) continue;
    const record = decodeDocument(key, value);
    if (!isChecked(value)) {
      const own = Uint8Array.from(key);
      rewritten.push({ type: "put", key: own, value: encodeDocument(own, record) });
    }
    slice.push({ seq, raw: record.raw });
    bytes += record.raw.length;
    if (bytes < BUILD_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

/** Returns the operations that delete all obsolete records when the new segments become active. */
async function switchOps(
  store: Store,
  { uid, unusable, model }: StoredIndex,
  live: ReadonlySet<number>,
  segments: readonly SegmentRecord[],
): Promise<StoreOp[]> {
  const fresh = new Set(segments.map(({ id }) => id));
  const broken = new Set(unusable.map((key) => Buffer.from(key).toString("hex")));
  const isModelWhole = model !== null && !broken.has(Buffer.from(modelKey(uid)).toString("hex"));
  const ops: StoreOp[] = [];
  for await (const view of store.keys(indexRange(uid))) {
    const key = Uint8Array.from(view);
    const kind = kindOfKey(key);
    if (kind === "manifest" || kind === "schema") continue;
    if (kind === "segment" && fresh.has(segmentOfKey(key))) continue;
    if (kind === "document" && live.has(numberOfKey(key))) continue;
    // Vectors are kept because they cost time or money to make. Codes are not, because they are derived from
    // the vectors.
    const isWhole = !broken.has(Buffer.from(key).toString("hex"));
    if (kind === "vector" && live.has(numberOfKey(key)) && isWhole) continue;
    if (kind === "model" && isModelWhole) continue;
    if (kind === "piece of model" && isModelWhole && segmentOfKey(key) === model.number) continue;
    ops.push({ type: "del", key });
  }
  return ops;
}
