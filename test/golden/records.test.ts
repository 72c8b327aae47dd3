// Stored bytes of every kind and version stay readable: each fixture decodes to the values from which it was
// written. While a fixture's version is current, the code writes the same bytes.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Catalog } from "../../server/catalog/catalog.js";
import { DEFAULT_SETTINGS } from "../../server/catalog/definition/settings.js";
import { beginPlan } from "../../server/indexes/reshard/folders.js";
import { readManifest } from "../../server/operate/backups/manifest.js";
import { decodeDeadDocuments, decodeReleasedDocuments } from "../../shards/segments/dead-documents.js";
import { DeletedRows } from "../../shards/segments/deleted-rows.js";
import { decodeDocument } from "../../shards/segments/document-record.js";
import { decodeManifest } from "../../shards/segments/manifest.js";
import { decodeSchema } from "../../shards/segments/schema-record.js";
import { decodePiece, decodeUnfinished } from "../../shards/segments/segment-pieces.js";
import { restoreBackupFile } from "../../shards/storage/backup-file.js";
import {
  DamagedBytesError,
  type EnvelopeError,
  ForeignBytesError,
  OtherVersionError,
} from "../../shards/storage/envelope.js";
import { documentKey, vectorKey } from "../../shards/storage/keyspace.js";
import { levelDamage } from "../../shards/storage/level-reader/level-files.js";
import { decodeModelPiece, decodeModelRecord } from "../../shards/vectors/model-store.js";
import { decodeCodesPiece } from "../../shards/vectors/stored-codes.js";
import { decodeVector } from "../../shards/vectors/vector-record.js";
import { CrashDisk, CrashStore } from "../crash/crash-store.js";
import { loadEngine } from "../unit/engine/load-engine.js";
import { CATALOG_KEYS, CLOSED_LOG, FIXTURES, inFolder } from "./encode.js";
import { readFixture } from "./fixture-files.js";
import * as V from "./values.js";

type Decode = (bytes: Uint8Array) => unknown;

/** Records in envelopes, by fixture: each one's decoder and expected value. */
const RECORDS: Readonly<Record<string, { decode: Decode; says: unknown }>> = {
  "manifest-v1.hex": { decode: (bytes) => decodeManifest(bytes, "x"), says: V.MANIFEST },
  "manifest-v2.hex": { decode: (bytes) => decodeManifest(bytes, "x"), says: V.SPREAD_MANIFEST },
  "piece-v1.hex": { decode: (bytes) => Buffer.from(decodePiece(bytes, "x")), says: V.PIECE },
  "unfinished-v1.hex": { decode: (bytes) => decodeUnfinished(bytes, "x"), says: V.UNFINISHED_PIECES },
  "deleted-rows-v1.hex": {
    decode: (bytes) => [...DeletedRows.decode(bytes, V.DELETED_ROWS_OF, "x").rows()],
    says: V.DELETED_ROWS,
  },
  "dead-documents-v1.hex": { decode: (bytes) => decodeDeadDocuments(bytes, "x"), says: V.DEAD.seqs },
  "released-documents-v1.hex": {
    decode: (bytes) => decodeReleasedDocuments(bytes, "x"),
    says: V.RELEASED_DOCUMENTS,
  },
  "model-record-v1.hex": { decode: (bytes) => decodeModelRecord(bytes, "x"), says: V.MODEL_RECORD },
  "model-piece-v1.hex": {
    decode: (bytes) => Buffer.from(decodeModelPiece(bytes, "x")),
    says: V.MODEL_BYTES.subarray(512 * 1024),
  },
  "codes-piece-v1.hex": {
    decode: (bytes) => String(decodeCodesPiece(bytes, "x").part),
    says: String(V.CODES.bytes.subarray(512 * 1024)),
  },
  "schema-v1.hex": { decode: (bytes) => decodeSchema(bytes, "x"), says: V.SCHEMA },
};

/** Returns the envelope with its version changed to `version` and a matching checksum. */
function ofVersion(envelope: Uint8Array, version: number): Buffer {
  const bytes = Buffer.from(envelope);
  bytes.writeUInt16LE(version, 6);
  bytes.writeUInt32LE(crc32(bytes.subarray(16), crc32(bytes.subarray(0, 12))), 12);
  return bytes;
}

/** Returns a copy with one bit flipped. */
function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 0x10;
  return copy;
}

function catalogStore(change: (key: string, bytes: Buffer) => Buffer = (_, bytes) => bytes): CrashStore {
  const disk = new CrashDisk();
  for (const [file, key] of Object.entries(CATALOG_KEYS))
    disk.durable.set(key, change(key, readFixture(file)));
  return new CrashStore(disk);
}

test("today's code writes today's format versions", async () => {
  const bench = (await loadEngine("release")).workbench();
  for (const [file, encode] of Object.entries(FIXTURES)) {
    expect(Buffer.from(await encode(bench)).toString("hex"), file).toBe(readFixture(file).toString("hex"));
  }
});

describe.each(Object.entries(RECORDS))("%s", (file, { decode, says }) => {
  test("still decodes to its original values", () => {
    expect(decode(readFixture(file))).toEqual(says);
  });

  test("is told apart when foreign, of another version or damaged", () => {
    const stored = readFixture(file);
    const kindOf = (name: string): string => name.split("-v")[0]!;
    const other = Object.keys(RECORDS).find((name) => kindOf(name) !== kindOf(file))!;
    expect(() => decode(readFixture(other))).toThrow(ForeignBytesError);
    expect(() => decode(Buffer.from("something else"))).toThrow(ForeignBytesError);
    expect(() => decode(ofVersion(stored, 0))).toThrow(OtherVersionError);
    expect(() => decode(ofVersion(stored, 3))).toThrow(OtherVersionError);
    for (let at = 4; at < stored.length; at++) {
      expect(() => decode(flipped(stored, at)), `byte ${at}`).toThrow(DamagedBytesError);
    }
  });
});

describe("documents", () => {
  const key = documentKey(V.UID, V.SEQ);

  test.each(["document-v1.hex", "document-first-builds.hex"])(
    "%s still decodes to its original values",
    (file) => {
      const { internal, id, raw } = decodeDocument(key, readFixture(file));
      expect({ internal, id, raw: String(raw) }).toEqual({ ...V.DOCUMENT, raw: String(V.DOCUMENT.raw) });
    },
  );

  test("a changed byte or another key is damage", () => {
    const stored = readFixture("document-v1.hex");
    for (let at = 0; at < stored.length; at++) {
      expect(() => decodeDocument(key, flipped(stored, at)), `byte ${at}`).toThrow(DamagedBytesError);
    }
    expect(() => decodeDocument(documentKey(V.UID, V.SEQ + 1), stored)).toThrow(DamagedBytesError);
  });
});

describe("vectors", () => {
  const key = vectorKey(V.UID, V.SEQ);

  test("vector-v1.hex still decodes to its original values", () => {
    const { origin, vector } = decodeVector(key, readFixture("vector-v1.hex"));
    expect({ origin, vector: Buffer.from(vector).toString("hex") }).toEqual({
      origin: V.VECTOR.origin,
      vector: Buffer.from(V.VECTOR.vector).toString("hex"),
    });
  });

  test("a changed byte or another key is damage", () => {
    const stored = readFixture("vector-v1.hex");
    for (let at = 0; at < stored.length; at++)
      expect(() => decodeVector(key, flipped(stored, at)), `byte ${at}`).toThrow(DamagedBytesError);
    expect(() => decodeVector(vectorKey(V.UID, V.SEQ + 1), stored)).toThrow(DamagedBytesError);
  });
});

test("a piece of codes records its origin and the number of pieces", () => {
  const { origin, pieces } = decodeCodesPiece(readFixture("codes-piece-v1.hex"), "x");
  expect({ origin, pieces }).toEqual({ origin: V.CODES.origin, pieces: 2 });
});

describe("the catalog", () => {
  test("still decodes to its original values", async () => {
    const { state, damage } = await Catalog.on(catalogStore());
    expect(damage.found).toEqual([]);
    expect({ ...state, indexByName: 0, keyByHash: 0, keysByPrefix: 0 }).toEqual({
      version: 15,
      shards: 3,
      nextIndexUid: 9,
      nextIndexId: 6,
      nextKeyId: 4,
      nextTenantId: 3,
      nextRuleId: 3,
      nextSynonymId: 3,
      nextSourceId: 5,
      nextRunId: 10,
      nextIncidentId: 3,
      nextRecommendationId: 7,
      tenants: new Map([[2, V.TENANT]]),
      keys: new Map([[3, V.KEY]]),
      indexes: new Map([[7, V.INDEX]]),
      owned: {
        rule: new Map([[7, V.RULES]]),
        synonym: new Map([[7, V.SYNONYMS]]),
        source: new Map([[7, [V.SOURCE]]]),
        run: new Map([[7, [V.RUN]]]),
        incident: new Map([[7, [V.INCIDENT]]]),
        recommendation: new Map([[7, [V.RECOMMENDATION]]]),
      },
      toDrop: new Set([8]),
      usage: new Map([[2, V.USAGE]]),
      indexByName: 0,
      keyByHash: 0,
      keysByPrefix: 0,
    });
  });

  test.each([
    ["catalog-meta-first-builds.hex", { version: 11, nextSynonymId: 3, nextSourceId: 1, nextRunId: 1 }],
    ["catalog-meta-before-coach.hex", { version: 14, nextSourceId: 5, nextRecommendationId: 1 }],
  ])("counters missing from %s begin at 1", async (file, counters) => {
    const earlier = readFixture(file);
    const { state } = await Catalog.on(catalogStore((key, bytes) => (key === "meta" ? earlier : bytes)));
    expect(state).toMatchObject({ shards: 3, ...counters });
  });

  test("an index stored without embedder, semantic and ai gets their defaults", async () => {
    const earlier = readFixture("catalog-index-before-vectors.hex");
    const { state } = await Catalog.on(catalogStore((key, bytes) => (key === "index/7" ? earlier : bytes)));
    const { embedder, semantic, ai } = DEFAULT_SETTINGS;
    const { sealedKeys: _none, ...record } = V.INDEX;
    expect(state.indexes.get(7)).toEqual({
      ...record,
      settings: { ...record.settings, embedder, semantic, ai },
    });
  });

  test.each(Object.values(CATALOG_KEYS))("%s of another version stops the start", async (key) => {
    const store = catalogStore((name, bytes) => (name === key ? ofVersion(bytes, 2) : bytes));
    await expect(Catalog.on(store)).rejects.toThrow(OtherVersionError);
  });

  test.each(Object.values(CATALOG_KEYS))("a damaged %s is noticed", async (key) => {
    const store = catalogStore((name, bytes) => (name === key ? flipped(bytes, bytes.length - 1) : bytes));
    if (key === "meta" || key.startsWith("tenant/")) {
      await expect(Catalog.on(store)).rejects.toThrow(DamagedBytesError);
    } else expect((await Catalog.on(store)).damage.found).toEqual([expect.stringContaining(key)]);
  });
});

describe("snapshots", () => {
  const restored = (bytes: Uint8Array): Promise<[string, string][]> =>
    inFolder(async (folder) => {
      const path = join(folder, "shard-0.skb");
      await writeFile(path, bytes);
      const disk = new CrashDisk();
      await restoreBackupFile(path, new CrashStore(disk), "x");
      return [...disk.durable].map(([key, value]) => [key, Buffer.from(value).toString()]);
    });

  test("a version 1 file still decodes to its original entries", async () => {
    expect(await restored(readFixture("backup-file-v1.hex"))).toEqual(V.BACKUP_ENTRIES);
  });

  test("foreign, newer and damaged files are told apart", async () => {
    const stored = readFixture("backup-file-v1.hex");
    const fails = (bytes: Uint8Array, error: new (message: string) => EnvelopeError): Promise<void> =>
      expect(restored(bytes)).rejects.toThrow(error);
    await fails(flipped(stored, 0), ForeignBytesError);
    await fails(
      Buffer.concat([stored.subarray(0, 4), Buffer.from([2, 0]), stored.subarray(6)]),
      OtherVersionError,
    );
    for (let at = 8; at < stored.length; at++) await fails(flipped(stored, at), DamagedBytesError);
    await fails(stored.subarray(0, -1), DamagedBytesError);
  });

  const manifestOf = (text: string) =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "manifest.json"), text);
      return readManifest(folder);
    });

  test("a version 1 manifest is still read; foreign, newer and damaged ones are told apart", async () => {
    const stored = String(readFixture("backup-manifest-v1.json"));
    expect(await manifestOf(stored)).toEqual(V.SNAPSHOT_MANIFEST);
    const refused = (from: string, to: string) => expect(manifestOf(stored.replace(from, to))).rejects;
    await refused("skein-snapshot", "else").toThrow("does not belong to a backup");
    await refused('"version": 1', '"version": 2').toThrow("has the backup format 2");
    await refused('"shards": 1', '"shards": 2').toThrow("is damaged (checksum)");
    await refused("{", "").toThrow("it is damaged");
  });
});

describe("files beside the databases", () => {
  const planOf = (text: string) =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "shards.new"));
      await writeFile(join(folder, "shards.new", "plan.json"), text);
      return beginPlan(folder, V.RESHARD_PLAN.from, V.RESHARD_PLAN.to);
    });

  test("a resharding plan is followed; one of another version is refused", async () => {
    const stored = String(readFixture("reshard-plan-v2.json"));
    expect(await planOf(stored)).toEqual(V.RESHARD_PLAN);
    expect(await planOf(String(readFixture("reshard-plan-v1.json")))).toEqual({
      ...V.RESHARD_PLAN,
      home: [],
    });
    const later = stored.replace('"version":2', '"version":3');
    await expect(planOf(later)).rejects.toThrow("written by another version of Skein");
  });

  test("a log is compared with the note of the closed database", async () => {
    const damage = (log: Uint8Array): Promise<string[]> =>
      inFolder(async (folder) => {
        await writeFile(join(folder, CLOSED_LOG.name), log);
        await writeFile(join(folder, "closed.json"), readFixture("closed-v1.json"));
        return levelDamage(folder, false);
      });
    const sentence = expect.stringContaining("it has changed since the database was closed");
    expect(await damage(CLOSED_LOG.bytes)).not.toContainEqual(sentence);
    expect(await damage(CLOSED_LOG.bytes.subarray(1))).toContainEqual(sentence);
  });
});
