// Streams all of an index's live documents from its shards, in the order of their sequence numbers. Keeps one
// page per shard in memory.
import {
  decodeStoredReply,
  encodeStored,
  type MovedDocument,
  type StoredPage,
} from "../../../shards/protocol/move.js";
import type { Location } from "../../catalog/schema/placement.js";
import { decodeReply } from "../../fleet/threads/shard-errors.js";
import type { AskShard } from "./new-part.js";

/** Total size in bytes of all pages in memory. */
const PAGES_BYTES = 16 * 1024 * 1024;
const PAGE_BYTES_MAX = 1024 * 1024;

interface Cursor {
  readonly shard: number;
  page: StoredPage;
  at: number;
}

export class DocumentStream {
  readonly #ask: AskShard;
  readonly #location: Location;
  #cursors: Cursor[] = [];
  /** The highest generation in any shard. 0 until the stream is open. */
  generation = 0;
  maxSeq = 0;

  constructor(ask: AskShard, location: Location) {
    this.#ask = ask;
    this.#location = location;
  }

  /** Reads the first pages. Returns the number of live documents according to the shards' manifests. */
  async open(): Promise<number> {
    const { places } = this.#location;
    const pages = await Promise.all(places.map((shard) => this.#read(shard, 0)));
    this.#cursors = pages.map((page, i) => ({ shard: places[i]!, page, at: 0 }));
    this.generation = Math.max(...pages.map((page) => page.generation));
    this.maxSeq = Math.max(...pages.map((page) => page.maxSeq));
    return pages.reduce((sum, page) => sum + page.liveDocs, 0);
  }

  /** Returns the next document in the order of sequence numbers, or null at the end. */
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
    const { data, places } = this.#location;
    const bytesMax = Math.min(PAGE_BYTES_MAX, Math.ceil(PAGES_BYTES / places.length));
    const request = encodeStored({ uid: data, afterSeq, bytesMax });
    return decodeReply(await this.#ask(shard, request), decodeStoredReply);
  }
}
