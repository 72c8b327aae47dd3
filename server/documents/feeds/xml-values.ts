// Reads well-formed item elements as objects, using fast-xml-parser. Child elements become members named as
// written, with their prefix; all values are strings, and repeated children become arrays. Declarations in
// the document have no effect.

import { type X2jOptions, XMLParser } from "fast-xml-parser";
import { type FeedObject, setMember } from "./feed-item.js";
import { decodeEntities } from "./xml-entities.js";

/**
 * Names that the parser refuses because they would be dangerous in its own objects. In ours they are ordinary
 * names (see setMember), so they are passed through escaped.
 */
const REFUSED = new Set(["__proto__", "constructor", "prototype"]);
/** Marks an escaped name. No XML name can contain this character. */
const ESCAPE = "\u0001";

const TEXT = "#text";
const ATTRIBUTES = ":@";

/**
 * A node as parsed with `preserveOrder`: one member has the node's name and its children, and a second
 * member, if present, its attributes.
 */
type Node = { readonly [name: string]: Node[] | string | Record<string, string> };

const OPTIONS: X2jOptions = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseTagValue: false,
  trimValues: true,
  // If this were true, the parser would build an unused path string for every element.
  jPath: false,
  entityDecoder: {
    decode: decodeEntities,
    reset() {},
    setXmlVersion() {},
    addInputEntities() {},
    setExternalEntities() {},
  },
  transformTagName: escaped,
  transformAttributeName: escaped,
  onDangerousProperty: (name) => name,
  updateTag: () => true,
};

export class XmlValues {
  readonly #parser = new XMLParser(OPTIONS);

  /**
   * Parses everything in one call, because each call has a high setup cost. Throws the parser's error if it
   * cannot read an item.
   */
  read(items: readonly string[]): FeedObject[] {
    const [root] = this.#parser.parse(`<items>${items.map(withoutInstructions).join("")}</items>`) as Node[];
    const nodes = root!.items as Node[];
    if (nodes.length !== items.length)
      throw new Error(`${nodes.length} elements where there are ${items.length}`);
    return nodes.map((item) => membersOf(item[nameOf(item)] as Node[], attributesOf(item)));
  }
}

/**
 * Removes processing instructions. The parser mistakes a quote in them for the start of a value, which might
 * then end in another item.
 */
function withoutInstructions(item: string): string {
  if (!item.includes("<?")) return item;
  return item.replace(/<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>/gs, (found) =>
    found.startsWith("<?") ? "" : found,
  );
}

function escaped(name: string): string {
  return REFUSED.has(name) ? name + ESCAPE : name;
}

function unescaped(name: string): string {
  return name.endsWith(ESCAPE) ? name.slice(0, -ESCAPE.length) : name;
}

type Value = string | { [name: string]: Value } | Value[];
type Members = Record<string, Value>;

function nameOf(node: Node): string {
  for (const name in node) return name;
  return "";
}

function attributesOf(node: Node): Record<string, string> | undefined {
  return node[ATTRIBUTES] as Record<string, string> | undefined;
}

/**
 * Returns the node's text or, if it contains only elements, an object. An empty node's value comes from its
 * attributes.
 */
function valueIn(node: Node, name: string): Value {
  const children = node[name] as Node[];
  const attributes = attributesOf(node);
  if (children.length === 0) return attributes === undefined ? "" : emptyValue(attributes);
  if (children.length === 1 && TEXT in children[0]!) return (children[0][TEXT] as string).trim();
  if (attributes?.type === "xhtml" || children.some((child) => TEXT in child)) return textOf(children).trim();
  return membersOf(children, attributes);
}

/**
 * The children as an object's members. Text between children is ignored. If an Atom entry has several links,
 * the link to the product's page comes first: the link with rel `alternate` or without a rel.
 */
function membersOf(children: readonly Node[], attributes: Record<string, string> | undefined): Members {
  const members: Members = {};
  const otherLinks: Node[] = [];
  for (const child of children) {
    const rel = attributesOf(child)?.rel;
    if (rel === undefined || rel === "alternate") addMember(members, child);
    else otherLinks.push(child);
  }
  for (const link of otherLinks) addMember(members, link);
  if (attributes !== undefined) addAttributes(members, attributes);
  return members;
}

/** Adds a child as a member. If the member already exists, its values become an array. */
function addMember(members: Members, child: Node): void {
  const written = nameOf(child);
  if (written === TEXT) return;
  const name = unescaped(written);
  const value = valueIn(child, written);
  const before = Object.hasOwn(members, name) ? members[name] : undefined;
  if (before === undefined) setMember(members, name, value);
  else if (Array.isArray(before)) before.push(value);
  else setMember(members, name, [before, value]);
}

/**
 * The value of an empty element: its address if it has one (`<link href="..."/>`, `<enclosure url="..."/>`),
 * otherwise its attributes as an object.
 */
function emptyValue(attributes: Record<string, string>): Value {
  const address = attributes.href ?? attributes.url;
  if (address !== undefined) return address;
  const members: Members = {};
  addAttributes(members, attributes);
  for (const _ in members) return members;
  return "";
}

function addAttributes(members: Members, attributes: Record<string, string>): void {
  for (const written in attributes) {
    const name = unescaped(written);
    if (name.startsWith("xmlns") || name.startsWith("xml:") || Object.hasOwn(members, name)) continue;
    setMember(members, name, attributes[written]!);
  }
}

/** The plain text of an element that mixes text and tags, such as unescaped HTML. */
function textOf(children: readonly Node[]): string {
  let text = "";
  let afterElement = false;
  for (const child of children) {
    const name = nameOf(child);
    const isText = name === TEXT;
    const part = isText ? (child[TEXT] as string) : textOf(child[name] as Node[]);
    text += (!isText || afterElement) && text !== "" ? ` ${part}` : part;
    afterElement = !isText;
  }
  return text;
}
