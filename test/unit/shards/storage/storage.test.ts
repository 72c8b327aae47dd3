// Keys, envelopes, the manifest and the small records: values round-trip, and foreign bytes, other versions
// and damage give different errors.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DeletedRows } from "../../../../shards/segments/deleted-rows.js";
import { decodeDocument, encodeDocument } from "../../../../shards/segments/document-record.js";
import { decodeManifest, encodeManifest } from "../../../../shards/segments/manifest.js";
import {
  DamagedBytesError,
  ENVELOPE_MANIFEST,
  ENVELOPE_PIECE,
  ForeignBytesError,
  OtherVersionError,
  seal,
  unseal,
} from "../../../../shards/storage/envelope.js";
import * as keys from "../../../../shards/storage/keyspace.js";
import { MANIFEST } from "../../../golden/values.js";

describe("keys", () => {
  test("sort by uid, kind and number; every key of an index lies within its range", () => {
    const inOrder = [
      keys.manifestKey(1),
      keys.schemaKey(1),
      keys.pieceKey(1, 2, 3),
      keys.pieceKey(1, 2, 256),
      keys.pieceKey(1, 3, 0),
      keys.deletedRowsKey(1, 2),
      keys.deadDocumentsKey(1, 2 ** 40),
      keys.unfinishedKey(1, 5),
      keys.documentKey(1, 255),
      keys.documentKey(1, 2 ** 32),
      keys.documentKey(1, 2 ** 53 - 1),
    ];
    const sorted = [...inOrder].reverse().sort(Buffer.compare);
    expect(sorted).toEqual(inOrder);
    const { from, to } = keys.indexRange(1);
    for (const key of inOrder) {
      expect(Buffer.compare(from, key)).toBeLessThanOrEqual(0);
      expect(Buffer.compare(key, to)).toBeLessThan(0);
      expect(keys.uidOfKey(key)).toBe(1);
    }
    expect(Buffer.compare(keys.manifestKey(2), to)).toBe(0);
    expect(keys.isManifestKey(inOrder[0]!)).toBe(true);
    expect(keys.isManifestKey(inOrder[1]!)).toBe(false);
    const last = keys.indexRange(0xffffffff);
    expect(Buffer.compare(keys.documentKey(0xffffffff, 2 ** 53 - 1), last.to)).toBeLessThan(0);
  });

  test("round-trip their numbers", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
        expect(keys.numberOfKey(keys.documentKey(7, a))).toBe(a);
        const order = Buffer.compare(keys.documentKey(7, a), keys.documentKey(7, b));
        expect(order).toBe(Math.sign(a - b));
      }),
    );
  });
});

describe("envelope", () => {
  test("distinguishes foreign bytes, other versions and damage", () => {
    const payload = Buffer.from("payload");
    const sealed = seal(ENVELOPE_PIECE, 3, payload);
    expect(String(unseal(ENVELOPE_PIECE, 3, sealed, "x"))).toBe("payload");
    expect(() => unseal(ENVELOPE_MANIFEST, 3, sealed, "x")).toThrow(ForeignBytesError);
    expect(() => unseal(ENVELOPE_PIECE, 4, sealed, "x")).toThrow(OtherVersionError);
    expect(() => unseal(ENVELOPE_PIECE, 3, Buffer.from("{}"), "x")).toThrow(ForeignBytesError);
    expect(() => unseal(ENVELOPE_PIECE, 3, new Uint8Array(), "x")).toThrow(ForeignBytesError);
    for (let end = 4; end < sealed.length; end++) {
      expect(() => unseal(ENVELOPE_PIECE, 3, sealed.subarray(0, end), "x")).toThrow(DamagedBytesError);
    }
    for (let at = 4; at < sealed.length; at++) {
      const flipped = Uint8Array.from(sealed);
      flipped[at]! ^= 0x10;
      expect(() => unseal(ENVELOPE_PIECE, 3, flipped, "x")).toThrow(DamagedBytesError);
    }
  });
});

describe("manifest", () => {
  test("round-trips", () => {
    expect(decodeManifest(encodeManifest(MANIFEST), "m")).toEqual(MANIFEST);
    const empty = { ...MANIFEST, segments: [] };
    expect(decodeManifest(encodeManifest(empty), "m")).toEqual(empty);
  });

  test("is refused if its segments overlap or exceed its counters", () => {
    const overlap = { ...MANIFEST, segments: [MANIFEST.segments[1]!, MANIFEST.segments[0]!] };
    expect(() => decodeManifest(encodeManifest(overlap), "m")).toThrow(DamagedBytesError);
    expect(() => decodeManifest(encodeManifest({ ...MANIFEST, nextSegment: 5 }), "m")).toThrow(
      DamagedBytesError,
    );
  });
});

describe("records", () => {
  test("deleted rows round-trip", () => {
    const rows = DeletedRows.none(20).with([0, 7, 8, 19, 7]);
    expect(rows.count).toBe(4);
    const again = DeletedRows.decode(rows.encode(), 20, "d");
    expect([...again.rows()]).toEqual([0, 7, 8, 19]);
    expect(again.count).toBe(4);
    expect(again.has(8) && !again.has(9)).toBe(true);
    expect(rows.with([1]).count).toBe(5);
    expect(rows.count).toBe(4);
    expect(() => DeletedRows.decode(rows.encode(), 30, "d")).toThrow(DamagedBytesError);
  });

  test("documents round-trip", () => {
    const record = { internal: true, id: "ключ", raw: Buffer.from('{"id":"ключ"}') };
    const key = keys.documentKey(7, 12);
    const stored = encodeDocument(key, record);
    const again = decodeDocument(key, stored);
    expect({ ...again, raw: String(again.raw) }).toEqual({ ...record, raw: String(record.raw) });
    expect(() => decodeDocument(keys.documentKey(7, 13), stored)).toThrow("index 7, document 13: damaged");
    for (let end = 0; end < stored.length; end++) {
      expect(() => decodeDocument(key, stored.subarray(0, end))).toThrow(DamagedBytesError);
    }
    for (let bit = 0; bit < stored.length * 8; bit++) {
      const flipped = Uint8Array.from(stored);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decodeDocument(key, flipped)).toThrow(DamagedBytesError);
    }
  });
});
