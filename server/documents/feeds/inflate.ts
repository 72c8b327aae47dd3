// Decompresses a feed. Gzip and deflate are detected by the first bytes or the Content-Encoding header. The
// output's size is limited, so that a small download cannot become an endless feed.

import { createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { FeedError } from "../../ground/errors.js";
import type { FeedEnd } from "./feed-end.js";
import { following } from "./following.js";

/**
 * Maximum number of compression layers. Honest servers use at most two, such as a .gz file that is compressed
 * again in transit.
 */
const LAYERS_MAX = 2;
const CHUNK_BYTES = 64 * 1024;
/** Number of bytes at the start of a body that show whether and how it is compressed. */
const HEAD_BYTES = 32;

/** Length of the number at the end of gzip data: the size of the last member's data modulo 2^32. */
const SIZE_BYTES = 4;

type Inflater = ReturnType<typeof createGunzip>;

/**
 * Yields the decompressed bytes of a body with this Content-Encoding header. Proves the feed's end if the
 * compressed data states it. Throws FeedError: SK-DS-413 for more than `bytesMax` decompressed bytes,
 * SK-DS-422 for damaged data or an unknown encoding, SK-DS-520 for truncated data.
 */
export async function* inflate(
  chunks: AsyncIterable<Uint8Array>,
  contentEncoding: string | null,
  bytesMax: number,
  end?: FeedEnd,
): AsyncGenerator<Uint8Array> {
  let plain = chunks;
  let declared = declaredEncodings(contentEncoding);
  for (let layer = 0; layer < LAYERS_MAX; layer++) {
    const { head, all } = await withHead(plain);
    plain = all;
    const inflater = inflaterFor(head.subarray(0, HEAD_BYTES), declared.at(-1));
    if (inflater === null) break;
    declared = declared.slice(0, -1);
    plain = inflated(all, inflater, isGzip(head), end);
  }
  let bytes = 0;
  for await (const chunk of plain) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new FeedError("SK-DS-413", `the feed is larger than ${bytesMax} bytes`);
    yield chunk;
  }
}

function declaredEncodings(header: string | null): string[] {
  const names = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const encodings = names.filter((name) => name !== "" && name !== "identity");
  const unknown = encodings.find((name) => !/^(x-)?gzip$|^deflate$/.test(name));
  if (unknown === undefined) return encodings;
  throw new FeedError(
    "SK-DS-422",
    `the content encoding ${JSON.stringify(unknown)} is not supported; use gzip`,
  );
}

/**
 * Chooses a decompressor by the first bytes and, for deflate without one of the common zlib headers, by the
 * declared encoding. Returns null if the data is not compressed. Gzip data is recognised only by its magic
 * bytes, because some servers declare gzip for uncompressed bodies.
 */
function inflaterFor(head: Uint8Array, declared: string | undefined): Inflater | null {
  const options = { chunkSize: CHUNK_BYTES };
  if (isGzip(head)) return createGunzip(options);
  if (isCommonZlib(head)) return createInflate(options);
  if (declared !== "deflate" || isText(head)) return null;
  if (isZlib(head)) return createInflate(options);
  return mayBeRawDeflate(head) ? createInflateRaw(options) : null;
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * True if the data begins with one of three common zlib headers. The fourth, `x^`, is left out because it
 * could also be text.
 */
function isCommonZlib(head: Uint8Array): boolean {
  return head[0] === 0x78 && (head[1] === 0x01 || head[1] === 0x9c || head[1] === 0xda);
}

/** True if the data begins with any zlib header for the method deflate (RFC 1950, section 2.2). */
function isZlib([cmf = 0, flg = 0]: Uint8Array): boolean {
  return (cmf & 15) === 8 && ((cmf << 8) | flg) % 31 === 0;
}

/**
 * False if no deflate stream begins with these bytes (RFC 1951, section 3.2.3): block type 3 is reserved, and
 * a stored block contains its length and the length's complement. UTF-16 text fails by its byte order mark,
 * most Latin-1 text by the length.
 */
function mayBeRawDeflate(head: Uint8Array): boolean {
  const type = (head[0]! >> 1) & 3;
  if (type !== 0) return type !== 3;
  return head.length < 5 || (head[1]! ^ head[3]! ^ 0xff) + (head[2]! ^ head[4]! ^ 0xff) === 0;
}

/**
 * True if a body declared as deflate is really uncompressed text: it begins with UTF-8 without control
 * characters, or with XML in any one-byte encoding.
 */
function isText(head: Uint8Array): boolean {
  if (head[0] === 0x3c && (head[1] === 0x21 || head[1] === 0x3f)) return true; // <! and <?
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return !/(?![\t\n\r])\p{Cc}/u.test(text);
  } catch {
    return false;
  }
}

async function withHead(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  while (head.byteLength < HEAD_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    head = head.byteLength === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, all: following(head, iterator) };
}

/**
 * Truncated data ends in an error, so data without one is complete. Gzip data is the exception: it may have
 * several members and end after any of them. Its end counts only if it has one member, as most files do: then
 * the size at its end is that of all the data.
 */
async function* inflated(
  chunks: AsyncIterable<Uint8Array>,
  inflater: Inflater,
  hasMembers: boolean,
  end: FeedEnd | undefined,
): AsyncGenerator<Uint8Array> {
  const feeding = feed(chunks, inflater);
  let bytes = 0;
  try {
    for await (const chunk of inflater as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    throw reason(error);
  } finally {
    inflater.destroy();
    await feeding;
  }
  if (!hasMembers || (await feeding).readUInt32LE() === bytes % 2 ** 32) end?.prove();
}

function reason(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "Z_BUF_ERROR") {
    return new FeedError("SK-DS-520", "the feed ended early: its compressed data is incomplete", error);
  }
  if (!code?.startsWith("Z_")) return error;
  return new FeedError(
    "SK-DS-422",
    `the feed's compressed data is damaged (${(error as Error).message})`,
    error,
  );
}

/**
 * Writes with back-pressure. If the source fails, the inflater fails too, and its reader gets the error.
 * Returns the last SIZE_BYTES bytes written.
 */
async function feed(chunks: AsyncIterable<Uint8Array>, into: Inflater): Promise<Buffer> {
  let last = Buffer.alloc(SIZE_BYTES);
  try {
    for await (const chunk of chunks) {
      if (into.destroyed) return last;
      last = Buffer.concat([last, chunk.subarray(-SIZE_BYTES)]).subarray(-SIZE_BYTES);
      if (!into.write(chunk)) await writable(into);
    }
    into.end();
  } catch (error) {
    into.destroy(error as Error);
  }
  return last;
}

function writable(into: Inflater): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      into.off("drain", done);
      into.off("close", done);
      resolve();
    };
    if (into.destroyed || !into.writableNeedDrain) return resolve();
    into.on("drain", done);
    into.on("close", done);
  });
}
