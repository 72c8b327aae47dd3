// Reads a feed's bytes as items, whatever its format. This is the only place that maps formats to readers.
// Reads on demand, and holds one piece of the feed and one item at a time. Does not know where the bytes come
// from or what happens to the items.

import { FeedError } from "../../ground/errors.js";
import { messageOf } from "../formats/input-error.js";
import { decodeText, type FeedText, INVALID, invalidBytes } from "./charset.js";
import { csvItems } from "./csv-items.js";
import type { FeedEnd } from "./feed-end.js";
import { type FeedItem, type FeedOptions, htmlPage } from "./feed-item.js";
import { following } from "./following.js";
import { jsonItems } from "./json-items.js";
import { type XmlItem, xmlItems } from "./xml-items.js";
import { XmlValues } from "./xml-values.js";

const ITEMS_PER_CALL = 16;
const HTML_PAGE = /^\s*<(!doctype\s+)?html[\s>]/i;

export interface FeedBytes {
  /** The feed's bytes after decompression (inflate.ts). */
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly contentType: string | null;
  /** Left out by a caller that does not read the feed to its end. */
  readonly end?: FeedEnd;
}

/**
 * Yields items in groups. Proves the feed's end if it is XML or a single JSON document, which end where their
 * outermost element or value does. Closes the source if the caller stops early or reading fails. Throws
 * FeedError: SK-DS-422 if the feed is not in this format, SK-DS-520 if it ends early, SK-DS-413 if it is too
 * large.
 */
export async function* readFeed(feed: FeedBytes, options: FeedOptions): AsyncGenerator<readonly FeedItem[]> {
  const source = feed.chunks[Symbol.asyncIterator]();
  const chunks = { [Symbol.asyncIterator]: () => source };
  try {
    const { text, first, isHtml } = await beginning(
      await decodeText(chunks, feed.contentType, options.encoding),
    );
    const { format, itemsPath, delimiter, itemBytesMax, rowsPerGroup } = options;
    if (isHtml) throw htmlPage();
    // A catalog may be XML, CSV or TSV, and only XML begins with `<`.
    if (format === "json") yield* jsonItems(text, feed.contentType, itemsPath, itemBytesMax, feed.end);
    else if (format === "csv" || (format === "brandx_catalog" && first !== "<")) {
      yield* csvItems(text, delimiter, itemBytesMax, rowsPerGroup);
    } else {
      yield* readXml(text, options);
      feed.end?.prove();
    }
  } finally {
    await source.return?.();
  }
}

/** Reads until there is a character other than white space. Drops pieces that contain only white space. */
async function beginning({
  encoding,
  pieces,
}: FeedText): Promise<{ text: FeedText; first: string; isHtml: boolean }> {
  const rest = pieces[Symbol.asyncIterator]();
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    const first = next.value.trimStart().charAt(0);
    if (first === "") continue;
    const isHtml = HTML_PAGE.test(next.value);
    return { first, isHtml, text: { encoding, pieces: following(next.value, rest) } };
  }
  throw new FeedError("SK-DS-520", "the feed is empty");
}

async function* readXml(text: FeedText, options: FeedOptions): AsyncGenerator<readonly FeedItem[]> {
  const values = new XmlValues();
  for await (const items of xmlItems(text.pieces, options.itemsPath, options.itemBytesMax)) {
    for (let at = 0; at < items.length; at += ITEMS_PER_CALL) {
      yield readXmlItems(items.slice(at, at + ITEMS_PER_CALL), values, text.encoding);
    }
  }
}

/**
 * Parses the items in one call. If the parser fails on one of them, parses them one by one, so that the
 * others are kept.
 */
function readXmlItems(items: readonly XmlItem[], values: XmlValues, encoding: string): FeedItem[] {
  const problems = items.map(
    ({ text, problem }) => problem ?? (text.includes(INVALID) ? invalidBytes(encoding) : null),
  );
  const whole = items.filter((_, i) => problems[i] === null);
  try {
    const read = values.read(whole.map((item) => item.text)).values();
    return items.map(({ at }, i) => {
      const problem = problems[i];
      return problem === null ? { at, value: read.next().value! } : { at, value: null, problem };
    });
  } catch (error) {
    if (items.length > 1) return items.flatMap((item) => readXmlItems([item], values, encoding));
    return [{ at: items[0]!.at, value: null, problem: `item is not well-formed: ${messageOf(error)}` }];
  }
}
