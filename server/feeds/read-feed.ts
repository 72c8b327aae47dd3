// A feed's bytes as items, whatever its format: one place that knows which reader a format has. Reads as it is asked and holds
// one piece of the feed and one item at a time. Knows nothing of where the bytes come from and what becomes of the items.

import { decodeText, type FeedText, INVALID, invalidBytes } from "./charset.js";
import type { FeedItem, FeedOptions } from "./feed-item.js";
import { type XmlItem, xmlItems } from "./xml-items.js";
import { xmlValue } from "./xml-values.js";

export interface FeedBytes {
  /** Without compression: see inflate.ts. */
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly contentType: string | null;
}

/** Groups of items. Throws FeedError: SK-DS-422 for what is not of this format, SK-DS-520 for an early end, SK-DS-413 for what is too large. */
export async function* readFeed(feed: FeedBytes, options: FeedOptions): AsyncGenerator<readonly FeedItem[]> {
  const text = await decodeText(feed.chunks, feed.contentType, options.encoding);
  yield* readXml(text, options);
}

async function* readXml(text: FeedText, options: FeedOptions): AsyncGenerator<readonly FeedItem[]> {
  for await (const items of xmlItems(text.pieces, options.itemsPath, options.itemBytesMax)) {
    yield items.map((item) => xmlItem(item, text.encoding));
  }
}

function xmlItem({ at, text, problem }: XmlItem, encoding: string): FeedItem {
  if (problem !== undefined) return { at, value: null, problem };
  if (text.includes(INVALID)) return { at, value: null, problem: invalidBytes(encoding) };
  try {
    return { at, value: xmlValue(text) };
  } catch (error) {
    return { at, value: null, problem: `item is not well-formed: ${(error as Error).message}` };
  }
}
