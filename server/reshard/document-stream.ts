// All live documents of an index, read from the databases of its shards as one stream in the order of the sequence
// numbers. Holds one page per shard.
import {
  decodeStoredReply,
  encodeStored,
  type MovedDocument,
  type StoredPage,
} from "../../shards/protocol/operations/move.js";
import { decodeReply } from "../threads/shard-errors.js";
import type { ShardPool } from "../threads/shard-pool.js";

/** The bytes of all pages together. */
const PAGES_BYTES = 16 * 1024 * 1024;
const PAGE_BYTES_MAX = 1024 * 1024;

interface Cursor {
  readonly shard: number;
  page: StoredPage;
  at: number;
}

export class DocumentStream {
  readonly #source: ShardPool;
  readonly #uid: number;
  #cursors: Cursor[] = [];
  /** The generation of the newest shard. Known once the stream is open. */
  generation = 0;
  maxSeq = 0;

  constructor(source: ShardPool, uid: number) {
    this.#source = source;
    this.#uid = uid;
  }

  /** Reads the first pages. Returns the number of live documents according to the manifests. */
  async open(): Promise<number> {
    const pages = await Promise.all(
      Array.from({ length: this.#source.count }, (_, shard) => this.#read(shard, 0)),
    );
    this.#cursors = pages.map((page, shard) => ({ shard, page, at: 0 }));
    this.generation = Math.max(...pages.map((page) => page.generation));
    this.maxSeq = Math.max(...pages.map((page) => page.maxSeq));
    return pages.reduce((sum, page) => sum + page.liveDocs, 0);
  }

  /** The document with the smallest sequence number of those not returned yet. Null at the end. */
  async next(): Promise<MovedDocument | null> {
    let first: Cursor | null = null;
    for (const cursor of this.#cursors) {
      if (cursor.at === cursor.page.documents.length && cursor.page.more) await this.#turn(cursor);
      const document = cursor.page.documents[cursor.at];
      if (document === undefined) continue;
      if (first === null || document.seq < first.page.documents[first.at]!.seq) first = cursor;
    }
    return first === null ? null : first.page.documents[first.at++]!;
  }

  async #turn(cursor: Cursor): Promise<void> {
    cursor.page = await this.#read(cursor.shard, cursor.page.documents.at(-1)!.seq);
    cursor.at = 0;
  }

  async #read(shard: number, afterSeq: number): Promise<StoredPage> {
    const bytesMax = Math.min(PAGE_BYTES_MAX, Math.ceil(PAGES_BYTES / this.#source.count));
    const request = encodeStored({ uid: this.#uid, afterSeq, bytesMax });
    return decodeReply(await this.#source.ask(shard, request), decodeStoredReply);
  }
}
