// Reads the items of one JSON document that arrives in pieces. The items are the elements of one of its
// arrays. Assembles the streaming parser's tokens here rather than with the parser's own assembler, because
// text outside items must take no memory, and a hostile item must not affect the others. Integers beyond 2^53
// become bigints; `__proto__` is an ordinary member.

import { Tokenizer, TokenType } from "@streamparser/json";
import { FeedError } from "../../ground/errors.js";
import { INVALID, invalidBytes } from "./charset.js";
import { type FeedItem, setMember } from "./feed-item.js";

export const DEPTH_MAX = 64;
/**
 * Maximum nesting depth. Deeper nesting ends the feed, because the reader has to keep the list of open
 * containers even for an item that has failed.
 */
const OPEN_MAX = 100_000;

const VALUE = 0;
const VALUE_OR_END = 1;
const KEY = 2;
const KEY_OR_END = 3;
const COLON = 4;
const COMMA_OR_END = 5;
const NOTHING = 6;

/** An object or array that has been opened but not closed yet. */
interface Container {
  readonly isArray: boolean;
  /** The value assembled so far. Null outside items, where nothing is assembled. */
  readonly value: unknown[] | Record<string, unknown> | null;
  /** True if the container is the array of items or may contain it. */
  readonly onPath: boolean;
  /** The next value's member name (in an object) or index (in an array). */
  key: string;
  index: number;
}

export interface JsonReaderOptions {
  /**
   * Path to the array of items. Null means the root array or, if the root is not an array, the first array
   * whose first element is an object.
   */
  readonly pointer: readonly string[] | null;
  readonly itemBytesMax: number;
  /** The feed's encoding, named in the error about invalid bytes. */
  readonly encoding: string;
}

export class JsonReader {
  readonly #options: JsonReaderOptions;
  readonly #tokens = new NumberTokenizer();
  readonly #open: Container[] = [];
  #expected = VALUE;
  #items: FeedItem[] = [];
  #count = 0;
  #bytes = 0;
  #tokenAt = 0;
  /** Index in `#open` of the array of items. -1 before the array begins and after it ends. */
  #arrayAt = -1;
  #found = false;
  #emptyArraySeen = false;
  #itemFrom = 0;
  #problem: string | null = null;

  constructor(options: JsonReaderOptions) {
    this.#options = options;
    this.#tokens.onToken = ({ token, value, offset }) => {
      this.#tokenAt = offset;
      this.#take(token, value);
    };
  }

  /**
   * Returns the items that are complete after this piece. Throws FeedError: SK-DS-422 if the text is not
   * JSON, SK-DS-413 if an item is too large.
   */
  write(piece: string): readonly FeedItem[] {
    this.#items = [];
    this.#bytes += Buffer.byteLength(piece);
    try {
      this.#tokens.write(piece);
    } catch (error) {
      throw error instanceof FeedError ? error : notJson(error, this.#tokenAt, this.#count);
    }
    const unfinishedFrom = this.#inItem ? this.#itemFrom : this.#tokenAt;
    this.#checkLength(this.#bytes - unfinishedFrom);
    return this.#items;
  }

  /**
   * Checks that the document is complete. Throws FeedError: SK-DS-520 if it is not, SK-DS-422 if it has no
   * array of items.
   */
  end(): void {
    if (this.#expected !== NOTHING) {
      throw new FeedError(
        "SK-DS-520",
        `the feed ended early: its JSON is incomplete after ${this.#count} items`,
      );
    }
    if (this.#found || (this.#emptyArraySeen && this.#options.pointer === null)) return;
    const { pointer } = this.#options;
    if (pointer === null) throw new FeedError("SK-DS-422", "the feed has no array of items; set items_path");
    throw new FeedError(
      "SK-DS-422",
      `the feed has no array at /${pointer.join("/").slice(0, 100)}; check items_path`,
    );
  }

  /** True if the next value must be an element of the array of items, as after a comma. */
  get awaitsItem(): boolean {
    return this.#expected === VALUE && this.#open.length === this.#arrayAt + 1 && this.#arrayAt >= 0;
  }

  get #inItem(): boolean {
    return this.#arrayAt >= 0 && this.#open.length > this.#arrayAt + 1;
  }

  #take(token: TokenType, value: unknown): void {
    if (token === TokenType.STRING) this.#string(value as string);
    else if (token === TokenType.COMMA) this.#comma();
    else if (token === TokenType.COLON) this.#colon();
    else if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
      this.#openContainer(token === TokenType.LEFT_BRACKET);
    } else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) {
      this.#close(token === TokenType.RIGHT_BRACKET);
    } else this.#scalar(value);
  }

  #string(text: string): void {
    if (text.includes(INVALID)) this.#spoil(invalidBytes(this.#options.encoding));
    if (this.#expected === KEY || this.#expected === KEY_OR_END) {
      this.#open.at(-1)!.key = text;
      this.#expected = COLON;
    } else this.#scalar(text);
  }

  #colon(): void {
    if (this.#expected !== COLON) this.#unexpected(":");
    this.#expected = VALUE;
  }

  #comma(): void {
    const top = this.#open.at(-1);
    if (this.#expected !== COMMA_OR_END || top === undefined) this.#unexpected(",");
    top.index++;
    this.#expected = top.isArray ? VALUE : KEY;
  }

  #scalar(value: unknown): void {
    if (this.#expected !== VALUE && this.#expected !== VALUE_OR_END) this.#unexpected("a value");
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
      this.#spoil("item has a number that is too large");
    }
    if (this.#arrayAt >= 0 && this.#open.length === this.#arrayAt + 1)
      this.#emit(null, "item is not an object");
    else this.#put(value);
    this.#expected = this.#open.length === 0 ? NOTHING : COMMA_OR_END;
  }

  #openContainer(isArray: boolean): void {
    if (this.#expected !== VALUE && this.#expected !== VALUE_OR_END) this.#unexpected(isArray ? "[" : "{");
    const depth = this.#open.length;
    const top = this.#open.at(-1);
    const { pointer } = this.#options;
    const onPath = top === undefined || (top.onPath && this.#leadsOn(top, pointer?.[depth - 1]));
    if (!this.#found && !isArray && pointer === null && top?.isArray && top.onPath && top.index === 0)
      this.#foundAt(depth - 1);
    const isItem = this.#arrayAt >= 0 && depth === this.#arrayAt + 1;
    if (isItem) this.#itemFrom = this.#tokenAt;
    const inItem = isItem || this.#inItem;
    const itemDepth = inItem ? depth - this.#arrayAt : depth;
    if (itemDepth > DEPTH_MAX) {
      if (!inItem || depth > OPEN_MAX)
        throw new FeedError("SK-DS-422", "the feed's JSON is nested too deeply");
      this.#spoil(`item has values nested more than ${DEPTH_MAX} deep`);
    }
    const value = inItem && this.#problem === null ? this.#child(isArray) : null;
    if (value !== null && !isItem) this.#put(value);
    this.#open.push({ isArray, value, onPath, key: "", index: 0 });
    this.#expected = isArray ? VALUE_OR_END : KEY_OR_END;
    if (this.#found || !isArray) return;
    if (pointer === null ? depth === 0 : onPath && depth === pointer.length) this.#foundAt(depth);
  }

  /**
   * True if the container's next value may be or contain the array of items. Without a pointer, looks only in
   * objects, not in elements of other arrays.
   */
  #leadsOn(top: Container, segment: string | undefined): boolean {
    if (this.#options.pointer === null) return !top.isArray;
    return segment === (top.isArray ? String(top.index) : top.key);
  }

  #child(isArray: boolean): unknown[] | Record<string, unknown> {
    return isArray ? [] : {};
  }

  #foundAt(depth: number): void {
    this.#found = true;
    this.#arrayAt = depth;
  }

  #close(isArray: boolean): void {
    const top = this.#open.at(-1);
    const mayEnd =
      this.#expected === COMMA_OR_END || this.#expected === (isArray ? VALUE_OR_END : KEY_OR_END);
    if (!mayEnd || top?.isArray !== isArray) this.#unexpected(isArray ? "]" : "}");
    if (isArray && top.onPath && this.#expected === VALUE_OR_END) this.#emptyArraySeen = true;
    this.#open.pop();
    const depth = this.#open.length;
    if (depth === this.#arrayAt) this.#arrayAt = -1;
    else if (this.#arrayAt >= 0 && depth === this.#arrayAt + 1) this.#endItem(top);
    this.#expected = depth === 0 ? NOTHING : COMMA_OR_END;
  }

  #endItem({ isArray, value }: Container): void {
    this.#checkLength(this.#tokenAt + 1 - this.#itemFrom);
    if (isArray) this.#emit(null, "item is not an object");
    else this.#emit(value as FeedItem["value"]);
  }

  #emit(value: FeedItem["value"], problem = this.#problem): void {
    const at = ++this.#count;
    this.#items.push(problem === null ? { at, value } : { at, value: null, problem });
    this.#problem = null;
  }

  #put(value: unknown): void {
    const top = this.#open.at(-1);
    if (top === undefined || top.value === null || this.#problem !== null) return;
    if (Array.isArray(top.value)) top.value.push(value);
    else setMember(top.value, top.key, value);
  }

  #spoil(problem: string): void {
    if (this.#arrayAt >= 0) this.#problem ??= problem;
  }

  #checkLength(bytes: number): void {
    const max = this.#options.itemBytesMax;
    if (bytes > max) throw new FeedError("SK-DS-413", `item ${this.#count + 1} is larger than ${max} bytes`);
  }

  #unexpected(what: string): never {
    const place = `the feed is not JSON at byte ${this.#tokenAt + 1}, after ${this.#count} items`;
    throw new FeedError(
      "SK-DS-422",
      `${place}: unexpected ${what.length === 1 ? JSON.stringify(what) : what}`,
    );
  }
}

class NumberTokenizer extends Tokenizer {
  /**
   * Returns Infinity for a number beyond a double's range. The library's types exclude bigints, but its code
   * passes them through.
   */
  protected override parseNumber(text: string): number {
    const number = Number(text);
    if (Number.isSafeInteger(number) || !Number.isFinite(number)) return number + 0;
    return /^-?\d+$/.test(text) ? (BigInt(text) as unknown as number) : number;
  }
}

/** Rewords the tokenizer's error for the person who maintains the feed. */
function notJson(error: unknown, tokenAt: number, items: number): FeedError {
  const message = (error as Error).message;
  const [, found, byte] = /^Unexpected "(.*)" at .*absolute position "(\d+)"/s.exec(message) ?? [];
  const at = byte === undefined ? tokenAt + 1 : Number(byte) + 1;
  const what = found === undefined ? "" : `: unexpected ${JSON.stringify(found)}`;
  return new FeedError("SK-DS-422", `the feed is not JSON at byte ${at}, after ${items} items${what}`, error);
}
