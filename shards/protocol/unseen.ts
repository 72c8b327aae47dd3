// COUNT_UNSEEN counts, and DELETE_UNSEEN deletes, the index's documents that were missing from a completely
// read feed. These are the live documents whose seq is below beforeSeq and not in the set. Documents with
// larger seqs were written after the run began.
//
//   request  u8 op, head (write-head.ts), f64 beforeSeq, set
//   set      u32 pages, pages x f64 page number, pages x 64 bytes: a bit for each of the page's 512 seqs
//   reply    COUNT_UNSEEN: u8 0, f64 count          DELETE_UNSEEN: as for DELETE_WHERE
import { type MessageReader, MessageWriter } from "./bytes.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";
import { putWriteHead, readWriteHead, WRITE_HEAD_BYTES, type WriteHead } from "./write-head.js";

const PAGE_SEQS = 512;
const PAGE_BYTES = PAGE_SEQS / 8;
const HEAD_BYTES = 1 + WRITE_HEAD_BYTES + 8;

/** A set of sequence numbers. Two million consecutive numbers take about 400 KiB. */
export class SeqSet {
  /** Offset of each page's bits in `#bits`, by page number. */
  readonly #pages = new Map<number, number>();
  /** The pages in insertion order, then spare capacity. */
  #bits = new Uint8Array(PAGE_BYTES);

  static read(reader: MessageReader): SeqSet {
    const set = new SeqSet();
    const pages = reader.count(8 + PAGE_BYTES);
    for (let i = 0; i < pages; i++) set.#pages.set(reader.whole(), i * PAGE_BYTES);
    if (set.#pages.size !== pages) throw new ShardError(SHARD_BAD_MESSAGE, "a page of seqs is given twice");
    set.#bits = Uint8Array.from(reader.bytes(pages * PAGE_BYTES));
    return set;
  }

  /** Length of the encoded set in bytes. */
  get bytes(): number {
    return 4 + this.#pages.size * (8 + PAGE_BYTES);
  }

  add(seq: number): void {
    const page = Math.floor(seq / PAGE_SEQS);
    const bit = seq % PAGE_SEQS;
    const at = (this.#pages.get(page) ?? this.#begin(page)) + (bit >> 3);
    this.#bits[at] = this.#bits[at]! | (1 << (bit & 7));
  }

  has(seq: number): boolean {
    const at = this.#pages.get(Math.floor(seq / PAGE_SEQS));
    const bit = seq % PAGE_SEQS;
    return at !== undefined && (this.#bits[at + (bit >> 3)]! & (1 << (bit & 7))) !== 0;
  }

  write(writer: MessageWriter): MessageWriter {
    writer.u32(this.#pages.size);
    for (const page of this.#pages.keys()) writer.whole(page);
    return writer.bytes(this.#bits.subarray(0, this.#pages.size * PAGE_BYTES));
  }

  #begin(page: number): number {
    const at = this.#pages.size * PAGE_BYTES;
    if (at === this.#bits.length) {
      const larger = new Uint8Array(Math.max(PAGE_BYTES, at * 2));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    this.#pages.set(page, at);
    return at;
  }
}

/** COUNT_UNSEEN ignores the generation and counts in the newest state. */
export interface UnseenRequest extends WriteHead {
  beforeSeq: number;
  kept: SeqSet;
}

function encode(op: Op, request: UnseenRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(HEAD_BYTES + request.kept.bytes).u8(op);
  putWriteHead(writer, request).whole(request.beforeSeq);
  return request.kept.write(writer).finish();
}

export function encodeCountUnseen(request: UnseenRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.COUNT_UNSEEN, request);
}

export function encodeDeleteUnseen(request: UnseenRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.DELETE_UNSEEN, request);
}

/** Decodes the payload, which follows the op byte. */
export function decodeUnseen(reader: MessageReader): UnseenRequest {
  const request = { ...readWriteHead(reader), beforeSeq: reader.whole(), kept: SeqSet.read(reader) };
  reader.end();
  return request;
}

export function encodeCountUnseenReply(count: number): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1 + 8).u8(REPLY_OK).whole(count).finish();
}

export function decodeCountUnseenReply(reply: Uint8Array): number {
  const reader = openReply(reply);
  const count = reader.whole();
  reader.end();
  return count;
}
