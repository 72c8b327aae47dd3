// A feed's bytes as items, whatever its format: one place that knows which reader a format has. Reads as it is asked and holds
// one piece of the feed and one item at a time. Knows nothing of where the bytes come from and what becomes of the items.

import { FeedError } from "../errors.js";
import { messageOf } from "../formats/input-error.js";
import { decodeText, type FeedText, INVALID, invalidBytes } from "./charset.js";
import { csvItems } from "./csv-items.js";
import type { FeedItem, FeedOptions } from "./feed-item.js";
import { jsonItems } from "./json-items.js";
import { type XmlItem, xmlItems } from "./xml-items.js";
import { xmlValues } from "./xml-values.js";

const ITEMS_PER_CALL = 16;

export interface FeedBytes {
  /** Without compression: see inflate.ts. */
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly contentType: string | null;
}

/** Groups of items. Throws FeedError: SK-DS-422 for what is not of this format, SK-DS-520 for an early end, SK-DS-413 for what is too large. */
export async function* readFeed(feed: FeedBytes, options: FeedOptions): AsyncGenerator<readonly FeedItem[]> {
  const text = await decodeText(feed.chunks, feed.contentType, options.encoding);
  const { format, itemsPath, delimiter, itemBytesMax } = options;
  if (format === "json") yield* jsonItems(text, feed.contentType, itemsPath, itemBytesMax);
  else if (format === "csv") yield* csvItems(text, delimiter, itemBytesMax);
  else if (format === "brandx_merchant") yield* readXml(text, options);
  else {
    // A catalog is XML, CSV or TSV; only XML begins with a bracket.
    const { isXml, all } = await beginning(text);
    if (isXml) yield* readXml(all, options);
    else yield* csvItems(all, delimiter, itemBytesMax);
  }
}

/** Reads over white space to the first character. */
async function beginning(text: FeedText): Promise<{ isXml: boolean; all: FeedText }> {
  const pieces = text.pieces[Symbol.asyncIterator]();
  const read: string[] = [];
  let first = "";
  while (first === "") {
    const next = await pieces.next();
    if (next.done === true) throw new FeedError("SK-DS-520", "the feed is empty");
    read.push(next.value);
    first = next.value.trimStart().charAt(0);
  }
  return { isXml: first === "<", all: { ...text, pieces: following(read.join(""), pieces) } };
}

async function* following(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* readXml(text: FeedText, options: FeedOptions): AsyncGenerator<readonly FeedItem[]> {
  for await (const items of xmlItems(text.pieces, options.itemsPath, options.itemBytesMax)) {
    for (let at = 0; at < items.length; at += ITEMS_PER_CALL) {
      yield readXmlItems(items.slice(at, at + ITEMS_PER_CALL), text.encoding);
    }
  }
}

/** An item that the parser cannot read must not cost its neighbours: they are read one by one then. */
function readXmlItems(items: readonly XmlItem[], encoding: string): FeedItem[] {
  const problems = items.map(
    ({ text, problem }) => problem ?? (text.includes(INVALID) ? invalidBytes(encoding) : null),
  );
  const whole = items.filter((_, i) => problems[i] === null);
  try {
    const values = xmlValues(whole.map((item) => item.text));
    let read = 0;
    return items.map(({ at }, i) => {
      const problem = problems[i];
      return problem === null ? { at, value: values[read++]! } : { at, value: null, problem };
    });
  } catch (error) {
    if (items.length > 1) return items.flatMap((item) => readXmlItems([item], encoding));
    return [{ at: items[0]!.at, value: null, problem: `item is not well-formed: ${messageOf(error)}` }];
  }
}
