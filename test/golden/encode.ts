// Every stored format's current bytes, by fixture file. `write.ts` stores them once; the tests compare them
// with the fixture while its version is the current one.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PLAIN_ANALYSIS, type Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { Catalog } from "../../server/catalog/catalog.js";
import type { Command } from "../../server/catalog/state.js";
import { writePlan } from "../../server/indexes/reshard/folders.js";
import { writeManifest } from "../../server/operate/backups/manifest.js";
import { DeadDocuments } from "../../shards/segments/dead-documents.js";
import { DeletedRows } from "../../shards/segments/deleted-rows.js";
import { encodeDocument } from "../../shards/segments/document-record.js";
import { encodeManifest } from "../../shards/segments/manifest.js";
import { putSchema } from "../../shards/segments/schema-record.js";
import { putPieces, writePiecesAhead } from "../../shards/segments/segment-pieces.js";
import { writeBackupFile } from "../../shards/storage/backup-file.js";
import { documentKey, unfinishedKey } from "../../shards/storage/keyspace.js";
import { noteClosed } from "../../shards/storage/level-reader/level-files.js";
import type { StoreOp } from "../../shards/storage/store.js";
import { putModel } from "../../shards/vectors/model-store.js";
import { putCodes } from "../../shards/vectors/stored-codes.js";
import { vectorPuts } from "../../shards/vectors/vector-record.js";
import { CrashDisk, CrashStore } from "../crash/crash-store.js";
import { encodeModel } from "../oracle/vectors/model.js";
import { toRaw } from "../unit/engine/segments/documents.js";
import { BLOCKS, type SegmentStory, SHOP } from "./documents.js";
import { MODEL } from "./model.js";
import * as V from "./values.js";

type Encode = (bench: Workbench) => Uint8Array | Promise<Uint8Array>;

/** Catalog record keys by fixture. */
export const CATALOG_KEYS: Readonly<Record<string, string>> = {
  "catalog-meta-v1.hex": "meta",
  "catalog-tenant-v1.hex": "tenant/2",
  "catalog-key-v1.hex": "key/3",
  "catalog-usage-v1.hex": "usage/2",
  "catalog-index-v1.hex": "index/7",
  "catalog-drop-v1.hex": "drop/8",
  "catalog-rule-boost-v1.hex": "rule/1",
  "catalog-rule-pin-v1.hex": "rule/2",
  "catalog-synonym-multi-way-v1.hex": "synonym/1",
  "catalog-synonym-one-way-v1.hex": "synonym/2",
  "catalog-source-v1.hex": "source/4",
  "catalog-run-v1.hex": "run/9",
  "catalog-incident-v1.hex": "incident/2",
  "catalog-recommendation-v1.hex": "recommendation/6",
};

/** A closed database's log; only what `closed.json` records about it matters. */
export const CLOSED_LOG = { name: "000003.log", bytes: Buffer.alloc(7) };
const PIECE_BYTES = 512 * 1024;

export const FIXTURES: Readonly<Record<string, Encode>> = {
  "segment-v1.hex": (bench) => segment(bench, SHOP),
  "segment-blocks-v1.hex": (bench) => segment(bench, BLOCKS),
  "model-v1.hex": () => encodeModel(MODEL),
  "manifest-v1.hex": () => encodeManifest(V.MANIFEST),
  "manifest-v2.hex": () => encodeManifest(V.SPREAD_MANIFEST),
  "piece-v1.hex": () => putBy([...putPieces(V.UID, 1, () => V.PIECE)][0]),
  "unfinished-v1.hex": unfinished,
  "deleted-rows-v1.hex": () => DeletedRows.none(V.DELETED_ROWS_OF).with(V.DELETED_ROWS).encode(),
  "dead-documents-v1.hex": () => putBy(new DeadDocuments().puts(V.UID, [V.DEAD])[0]),
  "released-documents-v1.hex": () => putBy(new DeadDocuments().givenBack(V.UID, -V.RELEASED_DOCUMENTS)),
  "schema-v1.hex": () => putBy(putSchema(V.UID, V.SCHEMA)),
  "model-record-v1.hex": () => putBy([...putModel(V.UID, V.MODEL_RECORD, V.MODEL_BYTES)].at(-1)),
  "model-piece-v1.hex": () => putBy([...putModel(V.UID, V.MODEL_RECORD, V.MODEL_BYTES)][1]),
  "codes-piece-v1.hex": () => putBy([...putCodes(V.UID, 1, V.CODES)][1]),
  "vector-v1.hex": () =>
    putBy([...vectorPuts(V.UID, { origin: V.VECTOR.origin, seqs: [V.SEQ], vectors: V.VECTOR.vector })][0]),
  "document-v1.hex": () => encodeDocument(documentKey(V.UID, V.SEQ), V.DOCUMENT),
  ...Object.fromEntries(
    Object.entries(CATALOG_KEYS).map(([file, key]): [string, Encode] => [file, () => catalogRecord(key)]),
  ),
  "backup-file-v1.hex": () => inFolder((folder) => backupFile(folder)),
  "backup-manifest-v1.json": () =>
    inFolder(async (folder) => {
      await writeManifest(folder, V.SNAPSHOT_MANIFEST);
      return readFile(join(folder, "manifest.json"));
    }),
  "reshard-plan-v2.json": () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "shards.new"));
      await writePlan(folder, V.RESHARD_PLAN);
      return readFile(join(folder, "shards.new", "plan.json"));
    }),
  "closed-v1.json": () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, CLOSED_LOG.name), CLOSED_LOG.bytes);
      noteClosed(folder);
      return readFile(join(folder, "closed.json"));
    }),
};

function segment(bench: Workbench, { fields, documents, seqs }: SegmentStory): Uint8Array {
  const built = bench.build({ fields, analysis: PLAIN_ANALYSIS }, toRaw(documents, seqs));
  if (built.segment === null || built.failures.length > 0) throw new Error("the documents were refused");
  return built.segment;
}

function putBy(op: StoreOp | undefined): Uint8Array {
  if (op?.type !== "put") throw new Error("the operation stores nothing");
  return op.value;
}

async function unfinished(): Promise<Uint8Array> {
  const store = new CrashStore(new CrashDisk());
  const bytes = new Uint8Array(V.UNFINISHED_PIECES * PIECE_BYTES);
  await writePiecesAhead(store, V.UID, 1, () => bytes, true);
  return store.getSync(unfinishedKey(V.UID, 1)) as Uint8Array;
}

/** Commands after which the catalog has exactly the records of `CATALOG_KEYS`. */
const COMMANDS: readonly Command[] = [
  { type: "shards.fix", shards: 3 },
  { type: "tenant.put", tenant: V.TENANT },
  { type: "key.put", key: V.KEY },
  { type: "usage.put", usage: [V.USAGE] },
  { type: "index.put", record: V.INDEX },
  { type: "index.put", record: { ...V.INDEX, uid: V.DROPPED_UID, id: 5, name: "gone" } },
  { type: "index.delete", uid: V.DROPPED_UID },
  ...V.RULES.map((rule): Command => ({ type: "record.put", kind: "rule", record: rule })),
  ...V.SYNONYMS.map((group): Command => ({ type: "record.put", kind: "synonym", record: group })),
  { type: "record.put", kind: "source", record: V.SOURCE },
  { type: "record.put", kind: "run", record: V.RUN },
  { type: "record.put", kind: "incident", record: V.INCIDENT },
  { type: "record.put", kind: "recommendation", record: V.RECOMMENDATION },
];

async function catalogRecord(key: string): Promise<Uint8Array> {
  const store = new CrashStore(new CrashDisk());
  const catalog = await Catalog.on(store);
  for (const command of COMMANDS) await catalog.change(() => command);
  return store.getSync(Buffer.from(key)) as Uint8Array;
}

async function backupFile(folder: string): Promise<Uint8Array> {
  const store = new CrashStore(new CrashDisk());
  const ops = V.BACKUP_ENTRIES.map(
    ([key, value]): StoreOp => ({ type: "put", key: Buffer.from(key), value: Buffer.from(value) }),
  );
  await store.batch(ops, { sync: true });
  const path = join(folder, "shard-0.skb");
  await writeBackupFile(path, store.view(), async () => undefined);
  return readFile(path);
}

/** Runs `work` with a temporary folder, which is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "skein-golden-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
