// Feeds as servers may send them: every format, encoding and compression, damaged anywhere. Reading a feed
// yields items or a refusal, and neither depends on how its bytes are split. Each item becomes a document
// with the schema's types, or the mapping says why it cannot.
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { Random } from "../../bench/random.js";
import { readNewIndex } from "../../server/catalog/indexes.js";
import { FEED_FORMATS, type FeedFormat } from "../../server/catalog/records/data-source.js";
import type { FeedItem, FeedOptions } from "../../server/documents/feeds/feed-item.js";
import { inflate } from "../../server/documents/feeds/inflate.js";
import { readFeed } from "../../server/documents/feeds/read-feed.js";
import { itemMapper } from "../../server/documents/mapping/map-item.js";
import { suggestFor } from "../../server/documents/mapping/suggest.js";
import { FeedError } from "../../server/ground/errors.js";
import type { FieldType } from "../../server/ground/field-types.js";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { SERVERS } from "../unit/server/record.js";
import { finding, mutateBytes, mutateText, type Target } from "./target.js";

const HEAD_BYTES = 8;
/** Text is read in blocks of this many bytes. */
const BLOCK_BYTES = 64 * 1024;
const FEED_BYTES_MAX = 1024 * 1024;
const SUGGESTED_FOR = 20;

const ITEM_BYTES = [1024 * 1024, 1024 * 1024, 200, 60];
const ENCODINGS = [null, null, "utf-8", "utf-16le", "windows-1252"];
const ITEMS_PATHS = [null, null, null, "item", "/items", "feed/entry", "/a/0/b", "/"];
const DELIMITERS = [null, null, ",", ";", "|", "\t"];
const CONTENT_TYPES = [
  null,
  "application/xml",
  "application/x-ndjson",
  "text/csv; charset=windows-1252",
  "application/json; charset=utf-16",
  "text/plain; charset=nonsense",
];
const CONTENT_ENCODINGS = [null, null, "gzip", "deflate", "gzip, gzip", "br", "identity"];

/** For each field type, checks that a value is of that type. */
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  int32: (value) => Number.isInteger(value) && Math.abs(value as number) <= 2 ** 31,
  int64: (value) => Number.isInteger(value) && Math.abs(value as number) <= 2 ** 63,
  float: (value) => Number.isFinite(value),
  bool: (value) => typeof value === "boolean",
};
const FIELDS: readonly { name: string; type: FieldType }[] = [
  { name: "title", type: "string" },
  { name: "stock", type: "int32" },
  { name: "released", type: "int64" },
  { name: "price", type: "float" },
  { name: "available", type: "bool" },
  { name: "tags", type: "string[]" },
  { name: "sizes", type: "int32[]" },
  { name: "weights", type: "float[]" },
];
const FIELD_MAP = {
  "g:name": "title",
  "offer.price": "price",
  "images.0.src": "image",
  "variants.sku": "tags",
};

const NAMES = [
  ...["id", "g:id", "sku", "title", "g:title", "name", "g:name", "stock", "released", "price", "g:price"],
  ...["available", "tags", "sizes", "weights", "link", "__proto__", "Größe (EU)", "a.b", "constructor"],
];
const VALUES = [
  ...[
    "",
    " ",
    "chair",
    "größe 😀",
    "12",
    "-0",
    "007",
    "1.5",
    "1e3",
    "1e999",
    "15.00 USD",
    "1.299,00 EUR",
    "1,299",
  ],
  ...[
    "in stock",
    "yes",
    "out of stock",
    "true",
    "2026-05-01",
    "2026-05-01T10:00-0800/2026-06-01",
    "Fri, 01 May 2026",
  ],
  ...[
    "a|b,c",
    "1;2;x",
    "[1,2]",
    '["a"]',
    "Shoes > Men, wide",
    "9007199254740993",
    "99999999999999999999",
    "<b>&amp;",
  ],
];
const PIECES = [
  ..."<>&;\"'/=:,|\t\n\r []{}#-!?0e.\\",
  ..."é😀\u0000\ufeff\uffff\ud800\u2028",
  ...[
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml ",
    "?>",
    "<!DOCTYPE x [",
    '<!ENTITY a "b">',
    "&a;",
    "&#x0;",
    "&#1114112;",
  ],
  ...["<item>", "</item>", "<item/>", "</", "/>", ' xmlns:g="x"', "<entry>", "</channel>", "</rss>"],
  ...[
    '"\n"',
    '""',
    "\\u0000",
    "\\ud800",
    "null",
    "[[[[[[[[",
    '{"a":',
    "1e999",
    '"__proto__":',
    '"id"',
    "\n\n",
    "# comment\n",
  ],
];

type Product = readonly (readonly [name: string, value: unknown])[];

function product(random: Random, number: number): Product {
  const id = random.pick(["id", "g:id", "sku"]);
  const members = Array.from({ length: random.from(0, 7) }, () => {
    const value = random.pick(VALUES);
    const nested = random.pick([
      { price: value, src: value, sku: value },
      [value, "b"],
      [{ sku: value }, { src: 1 }],
    ]);
    const name = random.pick(NAMES);
    return random.below(5) === 0
      ? ([random.pick(["offer", "images", "variants", name]), nested] as const)
      : ([name, value] as const);
  });
  return [[id, `p${number}`], ...members];
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const elementName = (name: string): string => name.replace(/[^\p{L}\d:._-]/gu, "_");

function element(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => element(name, one)).join("");
  const tag = elementName(name);
  if (typeof value !== "object" || value === null) return `<${tag}>${escaped(String(value))}</${tag}>`;
  const inner = Object.entries(value).map(([inside, one]) => element(inside, one));
  return `<${tag}>${inner.join("")}</${tag}>`;
}

function xml(products: readonly Product[], [item, ...around]: readonly string[]): string {
  const items = products.map(
    (one) => `<${item}>${one.map(([name, value]) => element(name, value)).join("")}</${item}>`,
  );
  const open = around.toReversed().map((name) => `<${name}>`);
  return `<?xml version="1.0"?>\n${open.join("")}${items.join("\n")}${around.map((name) => `</${name}>`).join("")}`;
}

function csv(products: readonly Product[], mark: string): string {
  const names = [...new Set(products.flatMap((one) => one.map(([name]) => name)))];
  const cell = (value: unknown): string => {
    const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
    return text.includes(mark) || /["\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = products.map((one) => names.map((name) => cell(new Map(one).get(name))).join(mark));
  return [names.map(cell).join(mark), ...rows].join("\n");
}

function feedText(random: Random, format: FeedFormat): string {
  const products = Array.from({ length: random.from(0, 8) }, (_, i) => product(random, random.from(0, i)));
  const objects = products.map((one) => Object.fromEntries(one));
  const isXml = format === "brandx_merchant" || (format === "brandx_catalog" && random.below(2) === 0);
  if (isXml)
    return xml(
      products,
      random.pick([
        ["item", "channel", "rss"],
        ["entry", "feed"],
        ["product", "products", "x"],
      ]),
    );
  if (format !== "json") return csv(products, random.pick([",", ";", "\t", "|"]));
  if (random.below(3) === 0) return objects.map((one) => JSON.stringify(one)).join("\n");
  return JSON.stringify(
    random.pick<unknown>([objects, { meta: 1, items: objects }, { a: [{ b: objects }] }]),
    null,
    random.pick([0, 0, 1]),
  );
}

function encoded(random: Random, text: string): Uint8Array {
  const kind = random.below(10);
  if (kind < 7) return Buffer.from(kind === 0 ? `\ufeff${text}` : text);
  return Buffer.from(kind === 7 ? `\ufeff${text}` : text, kind === 9 ? "latin1" : "utf16le");
}

function compressed(random: Random, bytes: Uint8Array): Uint8Array {
  const kind = random.below(12);
  if (kind === 0) return gzipSync(bytes);
  if (kind === 1) return deflateSync(bytes);
  if (kind === 2) return deflateRawSync(bytes);
  return kind === 3 ? gzipSync(gzipSync(bytes)) : bytes;
}

/** The settings that an input's first bytes choose. */
function settingsOf(head: Uint8Array) {
  const at = <T>(place: number, list: readonly T[]): T => list[head[place]! % list.length]!;
  const options: FeedOptions = {
    format: at(0, FEED_FORMATS),
    itemsPath: at(1, ITEMS_PATHS),
    delimiter: at(2, DELIMITERS),
    encoding: at(3, ENCODINGS),
    itemBytesMax: at(4, ITEM_BYTES),
  };
  return {
    options,
    contentType: at(5, CONTENT_TYPES),
    contentEncoding: at(6, CONTENT_ENCODINGS),
    step: head[7]! + 1,
  };
}

interface Outcome {
  readonly items: readonly FeedItem[];
  /** Null if the feed was read to its end. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

async function* cut(bytes: Uint8Array, step: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

async function outcomeOf(input: Uint8Array, step: number): Promise<Outcome> {
  const { options, contentType, contentEncoding } = settingsOf(input);
  const items: FeedItem[] = [];
  try {
    const chunks = inflate(cut(input.subarray(HEAD_BYTES), step), contentEncoding, FEED_BYTES_MAX);
    for await (const group of readFeed({ chunks, contentType }, options)) items.push(...group);
    return { items, refusal: null };
  } catch (error) {
    if (!(error instanceof FeedError)) throw error;
    return { items, refusal: { code: error.code, message: error.message } };
  }
}

const print = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one));

function checkSentence(sentence: string): void {
  if (sentence === "" || /undefined|\[object|\bNaN\b/.test(sentence))
    finding(`says ${JSON.stringify(sentence)}`);
}

function checkItems({ items, refusal }: Outcome): void {
  if (refusal !== null) {
    if (!["SK-DS-413", "SK-DS-422", "SK-DS-520"].includes(refusal.code))
      finding(`refused with ${refusal.code}`);
    checkSentence(refusal.message);
  }
  for (const [i, { at, value, problem }] of items.entries()) {
    if (at !== i + 1) finding(`item ${i + 1} says that it is item ${at}`);
    if ((value === null) !== (problem !== undefined))
      finding("an item has a value and a problem, or neither");
    if (problem !== undefined) checkSentence(problem);
  }
}

function checkDocuments(items: readonly FeedItem[]): void {
  const mapped = itemMapper({ fields: FIELDS, fieldMap: FIELD_MAP, idField: null });
  for (const item of items) {
    const one = mapped(item);
    if (print(mapped(item)) !== print(one)) finding("an item is mapped to different documents");
    if ((one.document === null) !== one.errors.length > 0) finding("a document has errors, or none has none");
    for (const sentence of one.errors) checkSentence(sentence.replace(/not ".*$/s, "not"));
    if (one.document === null) continue;
    const document = JSON.parse(one.document) as Record<string, unknown>;
    if (one.id === null || one.id === "" || document.id !== one.id)
      finding(`the id ${one.id} is ${print(document.id)}`);
    for (const { name, type } of FIELDS) {
      if (Object.hasOwn(document, name)) checkType(document[name], type);
    }
  }
}

function checkType(value: unknown, type: FieldType): void {
  const isOne = TYPES[type.replace("[]", "")]!;
  const fits = type.endsWith("[]")
    ? Array.isArray(value) && value.length > 0 && value.every(isOne)
    : isOne(value);
  if (!fits) finding(`${print(value)} is no ${type}`);
}

function checkSuggestion(items: readonly FeedItem[]): void {
  const { schema } = suggestFor(items.slice(0, SUGGESTED_FOR), null);
  if (schema.fields.length > 0) readNewIndex({ name: "shop", schema }, DEFAULT_LIMITS, SERVERS);
}

/**
 * Expects the same outcome. If a feed is refused, the number of items before the refusal may differ, and so
 * may the reason reported first: an item's length is checked only at the end of a piece, and zlib may report
 * damaged or truncated data in different ways.
 */
function checkSame(one: Outcome, other: Outcome, how: string): void {
  const isRefused = one.refusal !== null;
  const itemsOf = ({ items }: Outcome, count: number): string =>
    print(items.slice(0, count).map(({ value }) => value));
  const count = isRefused ? Math.min(one.items.length, other.items.length) : Number.POSITIVE_INFINITY;
  const refusals = [one.refusal, other.refusal];
  const mayDiffer = refusals.some(
    (refusal) => refusal?.code === "SK-DS-413" || refusal?.message.includes("compressed"),
  );
  const isSame =
    (other.refusal !== null) === isRefused &&
    (mayDiffer || one.refusal?.code === other.refusal?.code) &&
    itemsOf(one, count) === itemsOf(other, count);
  if (!isSame) finding(`${how} ${print(other)}, as a whole ${print(one)}`);
}

/**
 * Returns the same feed with white space before it, so that a block of text ends `at` bytes into the feed.
 */
function shifted(input: Uint8Array, at: number): Uint8Array {
  const feed = input.subarray(HEAD_BYTES);
  return Buffer.concat([input.subarray(0, HEAD_BYTES), Buffer.alloc(BLOCK_BYTES - at, 0x20), feed]);
}

/**
 * True if white space before the feed must have no effect: the feed is uncompressed JSON or XML in UTF-8 that
 * begins like its format, and the item limit is at least a block, so that the white space does not exceed it.
 */
function isShiftable(input: Uint8Array): boolean {
  const { options, contentEncoding } = settingsOf(input);
  if (contentEncoding !== null || options.format === "csv" || options.itemBytesMax < BLOCK_BYTES)
    return false;
  const feed = input.subarray(HEAD_BYTES);
  const first = Buffer.from(feed).toString("latin1").trimStart().charAt(0);
  return (
    options.encoding === "utf-8" &&
    (options.format === "json" ? "{[".includes(first) : first === "<") &&
    first !== ""
  );
}

/** Input: bytes that choose the settings (see `settingsOf`), then the feed as sent. */
export function feedTarget(): Target {
  return {
    name: "feeds",
    generate(random) {
      const head = Uint8Array.from({ length: HEAD_BYTES }, () => random.below(256));
      const { format } = settingsOf(head).options;
      const written = random.below(8) === 0 ? random.pick(FEED_FORMATS) : format;
      const text = mutateText(random, feedText(random, written), PIECES);
      const plain = encoded(random, text);
      const damaged = random.below(4) === 0 ? mutateBytes(random, plain) : plain;
      const sent = compressed(random, damaged);
      return Buffer.concat([head, random.below(12) === 0 ? mutateBytes(random, sent) : sent]);
    },
    async check(input) {
      if (input.length < HEAD_BYTES) return;
      const whole = await outcomeOf(input, input.length);
      checkItems(whole);
      checkDocuments(whole.items);
      checkSuggestion(whole.items);
      checkSame(whole, await outcomeOf(input, settingsOf(input).step), "in pieces");
      if (!isShiftable(input)) return;
      const size = input.length + BLOCK_BYTES;
      checkSame(whole, await outcomeOf(shifted(input, settingsOf(input).step), size), "over two blocks");
    },
    close: async () => undefined,
  };
}
