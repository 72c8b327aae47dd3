// Turns a JSON feed into items. The feed may be an array, an object that contains an array, or one object per
// line (NDJSON); the content type or the first line shows which. json-reader.ts reads a single document. A
// broken line becomes a failed item.

import { FeedError } from "../../ground/errors.js";
import { type FeedText, INVALID } from "./charset.js";
import type { FeedEnd } from "./feed-end.js";
import { type FeedItem, type FeedObject, isLarger } from "./feed-item.js";
import { following } from "./following.js";
import { DEPTH_MAX, JsonReader, type JsonReaderOptions } from "./json-reader.js";

const LINES_TYPE = /^[^;]*\b(x-)?(ndjson|jsonl|jsonlines|json-lines)\b/i;

/**
 * Yields the feed's items in groups. Proves the feed's end if the feed is a single document. Throws
 * FeedError: SK-DS-422 if the feed is not JSON or has no array of items, SK-DS-520 if it ends early,
 * SK-DS-413 if an array's item is too large.
 */
export async function* jsonItems(
  text: FeedText,
  contentType: string | null,
  itemsPath: string | null,
  itemBytesMax: number,
  end?: FeedEnd,
): AsyncGenerator<readonly FeedItem[]> {
  const pieces = text.pieces[Symbol.asyncIterator]();
  const limits = { itemBytesMax, encoding: text.encoding };
  const { head, isLines } = await start(pieces, itemBytesMax, LINES_TYPE.test(contentType ?? ""));
  if (isLines) {
    yield* lineItems(head, pieces, { ...limits, pointer: null });
    return;
  }
  const reader = new JsonReader({ ...limits, pointer: itemsPath === null ? null : segments(itemsPath) });
  for await (const piece of following(head, pieces)) {
    const items = reader.write(piece);
    if (items.length > 0) yield items;
  }
  reader.end();
  end?.prove();
}

/** Splits a JSON pointer into segments. The leading slash is optional. */
function segments(pointer: string): string[] {
  const path = pointer.replace(/^\//, "");
  if (path === "") return [];
  return path.split("/").map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Reads until it is clear whether the feed is NDJSON: its content type says so, or its first line is a
 * complete object and another value follows. Reads little more than one item of maximum size.
 */
async function start(pieces: AsyncIterator<string>, lengthMax: number, isDeclared: boolean) {
  let head = "";
  for (;;) {
    const next = await pieces.next();
    const isEnd = next.done === true;
    head = (head + (isEnd ? "" : next.value)).trimStart();
    const first = head.charAt(0);
    if (first === "" && !isEnd) continue;
    if (first !== "{" && first !== "[") {
      throw new FeedError(
        "SK-DS-422",
        `the feed is not JSON: it begins with ${JSON.stringify(head.slice(0, 20))}`,
      );
    }
    if (isDeclared || first === "[" || isEnd) return { head, isLines: isDeclared };
    const newline = head.indexOf("\n");
    if (newline >= 0) {
      if (parsed(head.slice(0, newline)) === undefined) return { head, isLines: false };
      if (head.slice(newline).trimStart() !== "") return { head, isLines: true };
    }
    if (head.length > lengthMax) return { head, isLines: false };
  }
}

async function* lineItems(
  head: string,
  pieces: AsyncIterator<string>,
  options: JsonReaderOptions,
): AsyncGenerator<readonly FeedItem[]> {
  const lines = new LineItems(options);
  for await (const piece of following(head, pieces)) yield lines.push(piece);
  yield lines.end();
}

/**
 * Reads one item per line. Lines arrive in pieces. Keeps at most one line in memory, and nothing of a line
 * that is too long.
 */
class LineItems {
  readonly #options: JsonReaderOptions;
  /** Reads the lines as if they were elements of one array. Replaced after a broken line. */
  #reader: JsonReader | null = null;
  #rest = "";
  #isTooLong = false;
  #line = 0;
  #count = 0;

  constructor(options: JsonReaderOptions) {
    this.#options = options;
  }

  push(piece: string): FeedItem[] {
    const items: FeedItem[] = [];
    let start = 0;
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", start)) {
      this.#add(piece.slice(start, end));
      this.#endLine(items);
      start = end + 1;
    }
    this.#add(piece.slice(start));
    return items;
  }

  /**
   * Ends the feed and returns its last item, if there is one. If the last line is broken and has no newline,
   * the feed was truncated: throws FeedError SK-DS-520.
   */
  end(): FeedItem[] {
    const items: FeedItem[] = [];
    const isCut = this.#rest.trim() !== "" && parsed(this.#rest) === undefined;
    this.#endLine(items);
    if (isCut) throw new FeedError("SK-DS-520", `the feed ended early, in line ${this.#line}`);
    return items;
  }

  #add(text: string): void {
    // A UTF-16 code unit has at least one byte. The exact size is checked at the end of the line.
    if (this.#rest.length + text.length > this.#options.itemBytesMax) this.#isTooLong = true;
    this.#rest = this.#isTooLong ? "" : this.#rest + text;
  }

  #endLine(items: FeedItem[]): void {
    const { itemBytesMax } = this.#options;
    this.#line++;
    if (this.#isTooLong || isLarger([this.#rest], itemBytesMax))
      items.push(this.#failed(`larger than ${itemBytesMax} bytes`));
    else if (this.#rest.trim() !== "") items.push(this.#read(this.#rest));
    this.#rest = "";
    this.#isTooLong = false;
  }

  #read(line: string): FeedItem {
    const value = PARTICULAR.test(line) ? null : parsed(line);
    if (value === undefined) return this.#failed("not a single JSON value");
    if (value === null || isDeeper(value, DEPTH_MAX)) return this.#readExactly(line);
    if (typeof value === "object" && !Array.isArray(value))
      return { at: ++this.#count, value: value as FeedObject };
    return { at: ++this.#count, value: null, problem: "item is not an object" };
  }

  #readExactly(line: string): FeedItem {
    try {
      if (this.#reader === null) {
        this.#reader = new JsonReader({ ...this.#options, itemBytesMax: Number.POSITIVE_INFINITY });
        this.#reader.write("[");
      }
      const items = this.#reader.write(`${line},`);
      if (items.length === 1 && this.#reader.awaitsItem) return { ...items[0]!, at: ++this.#count };
    } catch (error) {
      if (!(error instanceof FeedError)) throw error;
    }
    this.#reader = null;
    return this.#failed("not a single JSON value");
  }

  #failed(what: string): FeedItem {
    return { at: ++this.#count, value: null, problem: `line ${this.#line} is ${what}` };
  }
}

/**
 * Matches text that JSON.parse might read incorrectly: long or unusual numbers, and invalid bytes. All other
 * text goes to JSON.parse, which is ten times faster.
 */
const PARTICULAR = new RegExp(`\\d{16}|\\d[eE]|-0|${INVALID}`);

/** Parses a line. Returns undefined if it is not exactly one JSON value. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1));
}
