// Every message round-trips, and truncated or padded bytes are refused with a ShardError.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessageReader } from "../../../../shards/protocol/bytes.js";
import * as control from "../../../../shards/protocol/control.js";
import { SHARD_INTERNAL, SHARD_UNAVAILABLE, ShardError } from "../../../../shards/protocol/errors.js";
import * as exporting from "../../../../shards/protocol/export.js";
import * as fetching from "../../../../shards/protocol/fetch.js";
import { Frames, readFrames } from "../../../../shards/protocol/frames.js";
import { Action, DOC_EXISTS, NO_SLOT, Op } from "../../../../shards/protocol/ops.js";
import * as program from "../../../../shards/protocol/program.js";
import { decodeEmptyReply, encodeEmptyReply, encodeError } from "../../../../shards/protocol/reply.js";
import * as together from "../../../../shards/protocol/together.js";
import * as unseen from "../../../../shards/protocol/unseen.js";
import * as writing from "../../../../shards/protocol/write.js";

/** Checks the op byte and returns a reader positioned after it. */
function opened(message: Uint8Array, op: number): MessageReader {
  const reader = new MessageReader(message);
  expect(reader.u8()).toBe(op);
  return reader;
}

const plain = (bytes: Uint8Array): number[] => [...bytes];
const whole = fc.maxSafeNat();
const u16 = fc.nat(0xffff);
const u32 = fc.nat(0xffffffff);
/** Beginning of a write. */
const HEAD = { uid: 3, generation: 4, oldestGeneration: 2, published: 3, shards: 8 };

describe("writes", () => {
  test("WRITE round-trips", () => {
    const documents = fc.array(
      fc.record({
        index: u32,
        id: fc.string({ unit: "grapheme" }),
        hash: fc.bigInt(0n, 2n ** 64n - 1n),
        raw: fc.uint8Array(),
      }),
      { maxLength: 8 },
    );
    const head = { uid: u32, generation: whole, oldestGeneration: whole, published: whole, shards: u16 };
    const base = fc.record({ ...head, documents });
    fc.assert(
      fc.property(base, fc.nat(Action.SYNC), (request, action) => {
        const sent = {
          ...request,
          action: action as Action,
          documents: request.documents.map((d, seq) => ({ ...d, seq })),
        };
        const message = writing.encodeWrite(sent);
        expect(message.buffer.byteLength).toBe(message.length);
        const got = writing.decodeWrite(opened(message, Op.WRITE));
        expect({ ...got, documents: got.documents.map((d) => ({ ...d, raw: plain(d.raw) })) }).toEqual({
          ...sent,
          documents: sent.documents.map((d) => ({ ...d, raw: plain(d.raw) })),
        });
      }),
      { numRuns: 100 },
    );
  });

  test("WRITE refuses seqs that do not ascend and unknown actions", () => {
    const document = { index: 0, seq: 5, id: "a", hash: 1n, raw: new Uint8Array() };
    const request = { ...HEAD, action: Action.UPSERT };
    const twice = writing.encodeWrite({ ...request, documents: [document, document] });
    expect(() => writing.decodeWrite(opened(twice, Op.WRITE))).toThrow(ShardError);
    const odd = writing.encodeWrite({ ...request, action: 9 as Action, documents: [] });
    expect(() => writing.decodeWrite(opened(odd, Op.WRITE))).toThrow("unknown action");
  });

  test("WRITE replies round-trip", () => {
    const failures = [{ index: 7, code: DOC_EXISTS, slot: NO_SLOT, at: 99 }];
    const reply = { recorded: true, liveDocs: 2 ** 40, unchanged: 3, failures, kept: [2 ** 52, 1] };
    expect(writing.decodeWriteReply(writing.encodeWriteReply(reply))).toEqual(reply);
    const nothing = { ...reply, recorded: false };
    expect(writing.decodeWriteReply(writing.encodeWriteReply(nothing))).toEqual(nothing);
  });
});

describe("documents missing from a feed", () => {
  const head = { ...HEAD, beforeSeq: 2 ** 52 };
  const AT_SET = 1 + 30 + 8;
  const setOf = (seqs: Iterable<number>): unseen.SeqSet => {
    const set = new unseen.SeqSet();
    for (const seq of seqs) set.add(seq);
    return set;
  };

  test("COUNT_UNSEEN and DELETE_UNSEEN carry the kept seqs", () => {
    const near = fc.nat(3_000);
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(near, whole)), fc.array(fc.oneof(near, whole)), (seqs, others) => {
        const kept = setOf(seqs);
        for (const [op, encode] of [
          [Op.COUNT_UNSEEN, unseen.encodeCountUnseen],
          [Op.DELETE_UNSEEN, unseen.encodeDeleteUnseen],
        ] as const) {
          const message = encode({ ...head, kept });
          expect(message.buffer.byteLength).toBe(message.length);
          const { kept: got, ...rest } = unseen.decodeUnseen(opened(message, op));
          expect(rest).toEqual(head);
          for (const seq of [...seqs, ...others]) expect(got.has(seq)).toBe(seqs.includes(seq));
          got.add(2 ** 53 - 1);
          expect(got.has(2 ** 53 - 1)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
    expect(unseen.decodeCountUnseenReply(unseen.encodeCountUnseenReply(2 ** 40))).toBe(2 ** 40);
  });

  test("sets of adjacent seqs are small", () => {
    const kept = setOf(Array.from({ length: 2_000_000 }, (_, i) => i + 1));
    expect(kept.bytes).toBeLessThan(300_000);
  });

  test("truncated, padded and malformed sets are refused", () => {
    const message = unseen.encodeDeleteUnseen({ ...head, kept: setOf([1, 2_000]) });
    for (let length = 1; length < message.length; length++) {
      expect(() => unseen.decodeUnseen(opened(message.subarray(0, length), Op.DELETE_UNSEEN))).toThrow(
        ShardError,
      );
    }
    const padded = Buffer.concat([message, Buffer.alloc(1)]);
    expect(() => unseen.decodeUnseen(opened(padded, Op.DELETE_UNSEEN))).toThrow("bytes too many");
    const twice = Buffer.from(message);
    twice.copyWithin(AT_SET + 4, AT_SET + 4 + 8, AT_SET + 4 + 16);
    expect(() => unseen.decodeUnseen(opened(twice, Op.DELETE_UNSEEN))).toThrow("given twice");
    const many = Buffer.from(message);
    many.writeUInt32LE(0xffffffff, AT_SET);
    expect(() => unseen.decodeUnseen(opened(many, Op.DELETE_UNSEEN))).toThrow(ShardError);
  });
});

describe("reads", () => {
  test("programs round-trip", () => {
    const request = { uid: 3, generation: 4, oldestGeneration: 2, program: Uint8Array.of(1, 2, 3) };
    for (const [op, encode] of [
      [Op.EXPAND, program.encodeExpandRequest],
      [Op.COMPANY, program.encodeCompanyRequest],
      [Op.SEARCH, program.encodeSearchRequest],
    ] as const) {
      const got = program.decodeProgram(opened(encode(request), op));
      expect({ ...got, program: plain(got.program) }).toEqual({
        deadline: 0,
        ...request,
        program: [1, 2, 3],
      });
    }
    const deletion = program.encodeDeleteWhere({ ...HEAD, program: request.program });
    const got = program.decodeDeleteWhere(opened(deletion, Op.DELETE_WHERE));
    expect({ ...got, program: plain(got.program) }).toEqual({ ...HEAD, program: [1, 2, 3] });
    const reply = { deleted: 5, liveDocs: 6 };
    expect(program.decodeDeleteWhereReply(program.encodeDeleteWhereReply(reply))).toEqual(reply);
  });

  test("FETCH and GET round-trip", () => {
    const highlight = {
      fields: [{ name: "title", language: 1, sku: true, infix: true }],
      words: [
        { terms: ["a", "\u0001!a"], prefixes: ["b"], typos: ["c"], infixes: ["ba"], sequences: [["d", "e"]] },
        { terms: [], prefixes: [], typos: [], infixes: [], sequences: [] },
      ],
      snippetTokens: 30,
      startTag: "<mark>",
      endTag: "</mark>",
      escapeHtml: true,
    };
    for (const options of [
      {},
      { fields: ["a"] },
      { excludeFields: ["b"] },
      { highlight },
      { fields: [], highlight },
      { bytesMax: 0 },
      { bytesMax: 2 ** 52, excludeFields: ["b"], highlight },
    ]) {
      const request = { uid: 1, seqs: [1, 2 ** 52], ...options };
      expect(fetching.decodeFetch(opened(fetching.encodeFetch(request), Op.FETCH))).toEqual(request);
    }
    const documents = [
      { id: Buffer.from("é"), document: Buffer.from("{}"), highlight: Buffer.from("") },
      { id: Buffer.from(""), document: Buffer.from(""), highlight: Buffer.from("{}") },
    ];
    const got = fetching.decodeFetchReply(fetching.encodeFetchReply(documents));
    expect(got.map((d) => [String(d.id), String(d.document), String(d.highlight)])).toEqual([
      ["é", "{}", ""],
      ["", "", "{}"],
    ]);
    const get = { uid: 1, id: "ähm", hash: 2n ** 63n };
    expect(fetching.decodeGet(opened(fetching.encodeGet(get), Op.GET))).toEqual(get);
    expect(fetching.decodeGetReply(encodeEmptyReply())).toBeNull();
  });

  test("EXPORT and ALL_SEQS round-trip", () => {
    const all = { uid: 1, generation: 2, afterSeq: 3, limit: 4 };
    expect(exporting.decodeAllSeqs(opened(exporting.encodeAllSeqs(all), Op.ALL_SEQS))).toEqual(all);
    const some = { uid: 1, seqs: [3, 1, 2] };
    expect(exporting.decodeExport(opened(exporting.encodeExport(some), Op.EXPORT))).toEqual(some);
    expect(exporting.decodeAllSeqsReply(exporting.encodeAllSeqsReply([1, 2 ** 52]))).toEqual([1, 2 ** 52]);
  });
});

describe("control messages", () => {
  test("control messages round-trip", () => {
    const schema = {
      version: 2,
      fields: [{ slot: 1, name: "title", type: 0, flags: 4, language: 3 }],
      analysis: { symbolsToIndex: "+", tokenSeparators: "-" },
    };
    for (const made of [true, false]) {
      const vectors = { source: "endpoint", origin: 0x80000001 } as const;
      const open = { uid: 9, schema, made, vectors, published: 2 ** 40 };
      expect(control.decodeOpen(opened(control.encodeOpen(open), Op.OPEN))).toEqual(open);
      const standing = { uid: 9, schemaVersion: 2, made };
      expect(control.decodeStanding(opened(control.encodeStanding(standing), Op.STANDING))).toEqual(standing);
    }
    const change = { uid: 9, schema };
    expect(control.decodeSchemaRequest(opened(control.encodeSchema(change), Op.SCHEMA))).toEqual(change);
    expect(control.decodeUid(opened(control.encodeDrop(9), Op.DROP))).toBe(9);
    expect(control.decodeUid(opened(control.encodeSize(9), Op.SIZE))).toBe(9);
    const size = { diskBytes: 2 ** 40, memoryBytes: 0 };
    expect(control.decodeSizeReply(control.encodeSizeReply(size))).toEqual(size);
    const inUse = { uid: 9, oldestGeneration: 2 ** 40 };
    expect(control.decodeInUse(opened(control.encodeInUse(9, 2 ** 40), Op.IN_USE))).toEqual(inUse);
    const status = { liveDocs: 1, maxSeq: 2, generation: 3, staleSegments: 4 };
    expect(control.decodeOpenReply(control.encodeOpenReply(status))).toEqual(status);
    const inDoubt = [
      { generation: 2, shards: 2 },
      { generation: 3, shards: 8 },
    ];
    for (const standing of [
      { ...status, published: 1, inDoubt },
      { ...status, published: 0, inDoubt: [] },
    ])
      expect(control.decodeStandingReply(control.encodeStandingReply(standing))).toEqual(standing);
    const last = { uid: 9, generation: 2 ** 40 };
    expect(control.decodeGeneration(opened(control.encodePublished(9, 2 ** 40), Op.PUBLISHED))).toEqual(last);
    expect(control.decodeGeneration(opened(control.encodeTakeBack(9, 2 ** 40), Op.TAKE_BACK))).toEqual(last);
    const broken = new MessageReader(Uint8Array.of(0xc1));
    expect(() => control.decodeOpen(broken)).toThrow(ShardError);
  });
});

describe("several requests in one message", () => {
  test("frames on the line round-trip", () => {
    const frames = new Frames();
    const parts = [new Uint8Array([1, 2, 3]), new Uint8Array(0), new Uint8Array(300).fill(7)];
    parts.forEach((part, i) => {
      frames.add(2 ** 32 - 3 + i, part);
    });
    const message = frames.take();
    expect(frames.empty).toBe(true);
    const got = new Map<number, number[]>();
    readFrames(message, (id, part) => got.set(id, [...part]));
    expect([...got]).toEqual(parts.map((part, i) => [2 ** 32 - 3 + i, [...part]]));
    for (let length = 1; length < message.length; length++) {
      const ends = [15, 27];
      const cut = () => readFrames(message.subarray(0, length), () => undefined);
      if (ends.includes(length)) expect(cut).not.toThrow();
      else expect(cut).toThrow("ends within");
    }
  });

  test("TOGETHER round-trips", () => {
    const parts = [control.encodePing(), Uint8Array.of(), Uint8Array.of(1, 2)];
    const got = together.decodeTogether(opened(together.encodeTogether(parts), Op.TOGETHER));
    expect(got.map(plain)).toEqual(parts.map(plain));
    const replies = together.decodeTogetherReply(together.encodeTogetherReply([encodeEmptyReply()]));
    expect(replies.map(plain)).toEqual([[0]]);
  });
});

describe("refusals", () => {
  test("error replies carry the code; any other error becomes internal", () => {
    const caught = (error: unknown): unknown => {
      try {
        decodeEmptyReply(encodeError(error));
      } catch (thrown) {
        return thrown;
      }
      return null;
    };
    expect(caught(new ShardError(SHARD_UNAVAILABLE, "later"))).toMatchObject({
      code: SHARD_UNAVAILABLE,
      message: "later",
    });
    expect(caught(new RangeError("odd"))).toMatchObject({ code: SHARD_INTERNAL, message: "odd" });
  });

  test("a message truncated anywhere, or one byte too long, is a ShardError", () => {
    const message = writing.encodeWrite({
      ...HEAD,
      action: Action.UPSERT,
      documents: [{ index: 0, seq: 1, id: "id", hash: 1n, raw: Uint8Array.of(1, 2, 3) }],
    });
    const decode = (bytes: Uint8Array) => writing.decodeWrite(opened(bytes, Op.WRITE));
    for (let end = 1; end < message.length; end++) {
      expect(() => decode(message.subarray(0, end))).toThrow(ShardError);
    }
    expect(() => decode(Uint8Array.of(...message, 0))).toThrow(ShardError);
  });
});
