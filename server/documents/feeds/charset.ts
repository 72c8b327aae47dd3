// Decodes a feed's bytes to text, piece by piece. The encoding comes from the first of these that specifies
// one: the data source's setting, a byte order mark, the XML declaration, the content type. The default is
// UTF-8. A byte that is invalid in the encoding becomes INVALID, so that its item can be refused while the
// rest of the feed continues.

import { FeedError } from "../../ground/errors.js";

/**
 * Replaces bytes that are invalid in the feed's encoding. It is a noncharacter, so no feed has a legitimate
 * use for it.
 */
export const INVALID = "\uffff";

const REPLACEMENT = "\ufffd";
const REPLACEMENT_UTF8 = Buffer.from(REPLACEMENT);
/** Number of bytes searched for an XML declaration. */
const HEAD_BYTES = 1024;
/**
 * Short pieces are joined and long ones split into pieces of about this size, so that the time and memory per
 * piece do not depend on the feed's server.
 */
const BLOCK_BYTES = 64 * 1024;

export interface FeedText {
  readonly encoding: string;
  readonly pieces: AsyncIterable<string>;
}

/** True if an encoding with this name is supported for feeds. */
export function isEncoding(name: string): boolean {
  return canonical(name) !== null;
}

/** Returns the feed's encoding and its text. Throws FeedError SK-DS-422 if the encoding is unknown. */
export async function decodeText(
  chunks: AsyncIterable<Uint8Array>,
  contentType: string | null,
  option: string | null,
): Promise<FeedText> {
  const blocks = blocksOf(chunks);
  const first = await blocks.next();
  const head = first.done === true ? Buffer.alloc(0) : first.value;
  const name = option ?? markOf(head) ?? declaredIn(head) ?? charsetOf(contentType) ?? "utf-8";
  const encoding = canonical(name);
  if (encoding === null) {
    throw new FeedError(
      "SK-DS-422",
      `the feed's encoding ${JSON.stringify(name.slice(0, 40))} is unknown; set the encoding`,
    );
  }
  return { encoding, pieces: decoded(head, blocks, decoderOf(encoding)) };
}

/** Error message for an item that contains INVALID. */
export function invalidBytes(encoding: string): string {
  const other = encoding === "utf-8" ? "windows-1252" : "utf-8";
  return `item has bytes that are not ${encoding.toUpperCase()}; set the encoding, for instance ${other}`;
}

function canonical(name: string): string | null {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return null;
  }
}

function markOf(head: Buffer): string | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8";
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  // A feed's first character is ASCII, so in UTF-16 one of its two bytes is zero.
  if (head.length >= 2 && head[0] === 0 && head[1] !== 0) return "utf-16be";
  if (head.length >= 2 && head[0] !== 0 && head[1] === 0) return "utf-16le";
  return null;
}

function declaredIn(head: Buffer): string | null {
  const start = head.subarray(0, HEAD_BYTES).toString("latin1");
  const name = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]*)["']/.exec(start)?.[1];
  // A declaration that is readable as ASCII cannot be in UTF-16, whatever it says: the feed was converted and
  // the declaration was not updated.
  return name === undefined || /^utf-?16/i.test(name) ? null : name;
}

function charsetOf(contentType: string | null): string | null {
  return /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? "")?.[1] ?? null;
}

/** Joins chunks into blocks. An empty chunk ends a block early (flushes.ts). */
async function* blocksOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    if (chunk.byteLength === 0 && bytes > 0) {
      yield Buffer.concat(waiting, bytes);
      waiting = [];
      bytes = 0;
      continue;
    }
    waiting.push(chunk);
    bytes += chunk.byteLength;
    if (bytes < BLOCK_BYTES) continue;
    const all = Buffer.concat(waiting, bytes);
    let start = 0;
    for (; all.length - start >= BLOCK_BYTES; start += BLOCK_BYTES)
      yield all.subarray(start, start + BLOCK_BYTES);
    waiting = [all.subarray(start)];
    bytes = all.length - start;
  }
  if (bytes > 0) yield Buffer.concat(waiting, bytes);
}

async function* decoded(head: Buffer, rest: AsyncIterable<Buffer>, decoder: Decoder): AsyncGenerator<string> {
  const first = decoder.decode(head);
  yield first.startsWith("\ufeff") ? first.slice(1) : first;
  for await (const block of rest) yield decoder.decode(block);
  yield decoder.end();
}

interface Decoder {
  decode(bytes: Buffer): string;
  /** Call at the end of the input. Returns INVALID if the last character is incomplete, otherwise "". */
  end(): string;
}

function decoderOf(encoding: string): Decoder {
  if (encoding === "utf-8") return new WholeCharacters(splitUtf8, utf8Text);
  if (encoding === "utf-16le") return new WholeCharacters((bytes) => splitUtf16(bytes, 1), utf16Text);
  if (encoding === "utf-16be") {
    return new WholeCharacters(
      (bytes) => splitUtf16(bytes, 0),
      (bytes) => utf16Text(Buffer.from(bytes).swap16()),
    );
  }
  const decoder = new TextDecoder(encoding);
  return {
    decode: (bytes) => decoder.decode(bytes, { stream: true }).replaceAll(REPLACEMENT, INVALID),
    end: () => decoder.decode().replaceAll(REPLACEMENT, INVALID),
  };
}

/** Decodes whole characters only: keeps back the first bytes of a character until the rest arrives. */
class WholeCharacters implements Decoder {
  #rest: Buffer = Buffer.alloc(0);
  readonly #split: (bytes: Buffer) => number;
  readonly #text: (bytes: Buffer) => string;

  /**
   * `split` returns how many of the bytes form whole characters; `text` decodes those bytes and keeps no
   * state.
   */
  constructor(split: (bytes: Buffer) => number, text: (bytes: Buffer) => string) {
    this.#split = split;
    this.#text = text;
  }

  decode(more: Buffer): string {
    const bytes = this.#rest.length === 0 ? more : Buffer.concat([this.#rest, more]);
    const end = this.#split(bytes);
    this.#rest = bytes.subarray(end);
    return this.#text(bytes.subarray(0, end));
  }

  end(): string {
    return this.#rest.length === 0 ? "" : INVALID;
  }
}

function splitUtf8(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const width = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return width > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * Decodes UTF-8, with INVALID for invalid bytes. A replacement character that the feed itself contains is
 * kept.
 */
function utf8Text(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes(REPLACEMENT)) return text;
  let marked = "";
  let start = 0;
  for (let at = bytes.indexOf(REPLACEMENT_UTF8); at >= 0; at = bytes.indexOf(REPLACEMENT_UTF8, start)) {
    marked += bytes.toString("utf8", start, at).replaceAll(REPLACEMENT, INVALID) + REPLACEMENT;
    start = at + REPLACEMENT_UTF8.length;
  }
  return marked + bytes.toString("utf8", start).replaceAll(REPLACEMENT, INVALID);
}

/**
 * Returns the length of the longest prefix that ends on a character boundary, leaving out a trailing odd byte
 * and a trailing high surrogate. `high` is the offset of the high byte in a code unit.
 */
function splitUtf16(bytes: Buffer, high: 0 | 1): number {
  const even = bytes.length & ~1;
  return even > 0 && (bytes[even - 2 + high]! & 0xfc) === 0xd8 ? even - 2 : even;
}

function utf16Text(bytes: Buffer): string {
  return bytes.toString("utf16le").replace(/\p{Surrogate}/gu, INVALID);
}
