// Splits an XML feed into the texts of its item elements, one at a time, while the feed arrives: RSS 2.0 and
// 1.0, Atom, Meta catalog lists, and any other document whose item elements are known by name. If tags inside
// an item are mismatched, the item is reported as failed, in its place; mismatched tags outside items end the
// feed. xml-values.ts reads the items' contents.

import { FeedError } from "../../ground/errors.js";
import { htmlPage, isLarger } from "./feed-item.js";
import { BROKEN, END_TAG, NEED_MORE, START_TAG, TEXT, XmlScanner } from "./xml-scanner.js";

export interface XmlItem {
  readonly at: number;
  /** The whole element's text; "" if the item has a problem. */
  readonly text: string;
  readonly problem?: string;
}

/**
 * Elements that count as items if no path is given: those of RSS, Atom and Meta's catalogs, and common names
 * in other feeds. In each document, only the name that appears first is used.
 */
const ITEM_NAMES = new Set(["item", "entry", "listing", "product", "offer"]);
/**
 * A document with one of these roots and no items is an empty feed. Any other document without items is
 * probably not a feed.
 */
const FEED_ROOTS = new Set(["rss", "feed", "RDF", "listings"]);
const DEPTH_MAX = 64;

/**
 * Yields the items of each piece of text as a group. Throws FeedError: SK-DS-422 if the feed is not XML or
 * has no items, SK-DS-520 if it ends early.
 */
export async function* xmlItems(
  pieces: AsyncIterable<string>,
  itemsPath: string | null,
  itemBytesMax: number,
): AsyncGenerator<readonly XmlItem[]> {
  const splitter = new XmlSplitter(itemsPath, itemBytesMax);
  for await (const piece of pieces) {
    const items = splitter.push(piece);
    if (items.length > 0) yield items;
  }
  splitter.end();
}

class XmlSplitter {
  readonly #scanner = new XmlScanner();
  readonly #path: ItemsPath;
  readonly #itemBytesMax: number;
  /** Names of the open elements, root first. */
  readonly #open: string[] = [];
  /** Number of open elements below DEPTH_MAX in the current item. Their names are not kept. */
  #deeper = 0;
  #root: string | null = null;
  #items: XmlItem[] = [];
  #count = 0;
  /** Number of elements around the current item; -1 outside items. */
  #itemDepth = -1;
  #itemFrom = 0;
  #problem: string | null = null;

  constructor(itemsPath: string | null, itemBytesMax: number) {
    this.#path = new ItemsPath(itemsPath);
    this.#itemBytesMax = itemBytesMax;
  }

  push(piece: string): XmlItem[] {
    const scanner = this.#scanner;
    const keepFrom = this.#keepFrom();
    scanner.push(piece, keepFrom);
    this.#itemFrom -= keepFrom;
    this.#items = [];
    for (let found = scanner.next(); found !== NEED_MORE; found = scanner.next()) {
      if (found === START_TAG) this.#startTag();
      else if (found === END_TAG) this.#endTag();
      else if (found === BROKEN) this.#broken(scanner.name);
      else if (found === TEXT) this.#broken("text outside the root element");
    }
    if (this.#itemDepth >= 0 && scanner.text.length - this.#itemFrom > this.#itemBytesMax) this.#tooLong();
    return this.#items;
  }

  /**
   * Offset of the first character to keep. Outside items, an incomplete tag is kept because it may start an
   * item, unless it is too long for one.
   */
  #keepFrom(): number {
    const { tagFrom, needsFrom, text } = this.#scanner;
    if (this.#itemDepth >= 0) return this.#problem === null ? this.#itemFrom : needsFrom;
    return text.length - tagFrom > this.#itemBytesMax ? needsFrom : tagFrom;
  }

  end(): void {
    if (this.#root !== null && this.#open.length === 0 && this.#scanner.between) {
      if (this.#count === 0 && !this.#path.mayFindNothing(this.#root)) {
        throw new FeedError("SK-DS-422", this.#path.nothingFound(this.#root));
      }
      return;
    }
    const where = this.#root === null ? "before its first element" : `before <${this.#root}> was closed`;
    throw new FeedError("SK-DS-520", `the feed ended early, ${where}, after ${this.#count} items`);
  }

  #startTag(): void {
    const scanner = this.#scanner;
    const { name } = scanner;
    if (this.#open.length === 0) this.#startRoot(name);
    if (this.#itemDepth < 0 && this.#path.matches(this.#open, name)) {
      this.#itemDepth = this.#open.length;
      this.#itemFrom = scanner.from;
      this.#problem = null;
    }
    if (scanner.selfClosing) {
      if (this.#itemDepth === this.#open.length) this.#endItem();
      scanner.watchText = this.#open.length === 0;
      return;
    }
    if (this.#open.length - Math.max(this.#itemDepth, 0) >= DEPTH_MAX) this.#startTooDeep();
    else this.#open.push(name);
    scanner.watchText = false;
  }

  #startRoot(name: string): void {
    if (this.#root !== null) this.#fail(`<${name}> follows the end of the root element`);
    if (name.toLowerCase() === "html") throw htmlPage();
    this.#root = name;
  }

  #endTag(): void {
    if (this.#deeper > 0) {
      this.#deeper--;
      return;
    }
    const { name } = this.#scanner;
    const open = this.#open;
    if (open.at(-1) !== name) {
      const meant = open.lastIndexOf(name);
      // An error inside an item fails only that item. An error outside items, or an end tag for an element
      // around the item, ends the feed.
      if (this.#itemDepth < 0 || (meant >= 0 && meant < this.#itemDepth)) {
        this.#fail(
          open.length === 0 ? `</${name}> closes nothing` : `</${name}> where </${open.at(-1)}> was expected`,
        );
      }
      this.#spoil(`item is not well-formed: </${name}> where </${open.at(-1)}> was expected`);
      if (meant < 0) return;
      open.length = meant + 1;
    }
    open.pop();
    if (open.length === this.#itemDepth) this.#endItem();
    this.#scanner.watchText = open.length === 0;
  }

  #endItem(): void {
    const { text, to } = this.#scanner;
    const item = this.#problem === null ? text.slice(this.#itemFrom, to) : "";
    this.#count++;
    if (isLarger([item], this.#itemBytesMax)) this.#tooLong();
    if (this.#problem === null) this.#items.push({ at: this.#count, text: item });
    else this.#items.push({ at: this.#count, text: "", problem: this.#problem });
    this.#itemDepth = -1;
    this.#problem = null;
  }

  #tooLong(): void {
    this.#spoil(`item is larger than ${this.#itemBytesMax} bytes`);
  }

  #startTooDeep(): void {
    if (this.#itemDepth < 0) this.#fail(`elements are nested more than ${DEPTH_MAX} deep`);
    this.#spoil(`item has elements nested more than ${DEPTH_MAX} deep`);
    this.#deeper++;
  }

  #broken(what: string): void {
    if (this.#itemDepth < 0) this.#fail(what);
    this.#spoil(`item is not well-formed: ${what}`);
  }

  /**
   * Records the item's first problem and ignores later ones. Once there is a problem, `#keepFrom` no longer
   * keeps the item's text.
   */
  #spoil(problem: string): void {
    this.#problem ??= problem;
  }

  #fail(what: string): never {
    const line = this.#scanner.lineOf(this.#scanner.from);
    throw new FeedError("SK-DS-422", `the feed is not XML at line ${line}: ${what}`);
  }
}

/**
 * Decides which elements are items. A path may be `product`, `g:item`, `catalog/products/product` (the end of
 * the path) or `/catalog/product` (the whole path).
 */
class ItemsPath {
  readonly #given: string | null;
  readonly #segments: readonly string[];
  readonly #whole: boolean;
  /**
   * Set only if no path is given: the first item's element name. Only elements with that name count as items.
   */
  #name: string | null = null;
  #found = false;

  constructor(path: string | null) {
    this.#given = path;
    this.#segments = (path ?? "").split("/").filter((segment) => segment !== "");
    this.#whole = path?.startsWith("/") ?? false;
  }

  matches(open: readonly string[], name: string): boolean {
    if (this.#given === null) {
      if (this.#name !== null) return name === this.#name;
      if (!ITEM_NAMES.has(localName(name))) return false;
      this.#name = name;
      return true;
    }
    const segments = this.#segments;
    const last = segments.at(-1);
    if (last === undefined || !sameName(last, name)) return false;
    const above = segments.length - 1;
    if (open.length < above || (this.#whole && open.length !== above)) return false;
    for (let i = 0; i < above; i++) {
      if (!sameName(segments[i]!, open[open.length - above + i]!)) return false;
    }
    this.#found = true;
    return true;
  }

  mayFindNothing(root: string): boolean {
    return this.#given === null ? FEED_ROOTS.has(localName(root)) : this.#found;
  }

  nothingFound(root: string): string {
    if (this.#given !== null)
      return `the feed has no element ${JSON.stringify(this.#given.slice(0, 100))}; check items_path`;
    return `the feed has no items: its root is <${root}>, which contains no <item> or <entry>; set items_path`;
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function sameName(segment: string, name: string): boolean {
  return segment === name || (!segment.includes(":") && segment === localName(name));
}
