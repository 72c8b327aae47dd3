// Opens an import file or standard input as a stream of decompressed bytes. Detects from the bytes whether
// they are compressed with gzip, and whether they are a JSON array, JSON lines or CSV. Memory use does not
// depend on the file's size.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { InputError, messageOf } from "./input-error.js";

export const FORMATS = ["ndjson", "json", "csv"] as const;
export type Format = (typeof FORMATS)[number];

export interface Source {
  /** Name for messages, such as the path. */
  readonly name: string;
  readonly format: Format;
  readonly gzip: boolean;
  /** The file's size on disk, before decompression. Null if unknown (standard input, a pipe). */
  readonly totalBytes: number | null;
  /** Bytes read so far, before decompression. */
  bytesRead(): number;
  /** The content, without a byte order mark. Can be iterated once. */
  readonly chunks: AsyncIterable<Buffer>;
}

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
/** Number of first bytes to look at: enough to get past a byte order mark and leading blank lines. */
const HEAD_BYTES = 64;

/**
 * Opens `path` ("-" means `stdin`). If `format` is null, it is detected from the first bytes. Throws
 * InputError if the source is unreadable.
 */
export async function openSource(
  path: string,
  format: Format | null,
  stdin: Readable = process.stdin,
): Promise<Source> {
  const name = path === "-" ? "standard input" : path;
  const totalBytes = path === "-" ? null : await fileSize(path);
  const input = path === "-" ? stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
  let bytesRead = 0;
  const raw = await withHead(
    counted(input, name, (n) => (bytesRead += n)),
    2,
  );
  const gzip = raw.head[0] === 0x1f && raw.head[1] === 0x8b;
  const content = await withHead(gzip ? gunzip(raw.chunks, name) : raw.chunks, HEAD_BYTES);
  const { head } = content;
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    throw new InputError(
      `${name} is UTF-16; convert it to UTF-8 first, for instance with iconv -f UTF-16 -t UTF-8`,
    );
  }
  const mark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  return {
    name,
    gzip,
    totalBytes,
    format: format ?? detectFormat(head.subarray(mark)),
    bytesRead: () => bytesRead,
    chunks: mark === 0 ? content.chunks : withoutFirst(content.chunks, mark),
  };
}

/** An opening bracket means an array, a brace or empty input means JSON lines, anything else CSV. */
export function detectFormat(head: Uint8Array): Format {
  const first = head.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  if (first === OPEN_BRACKET) return "json";
  return first === OPEN_BRACE || first === undefined ? "ndjson" : "csv";
}

async function fileSize(path: string): Promise<number | null> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory()) throw new InputError(`${path} is a directory, not a file`);
    return entry.isFile() ? entry.size : null;
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new InputError(
      code === "ENOENT" ? `there is no file ${path}` : `cannot read ${path}: ${messageOf(error)}`,
    );
  }
}

async function* counted(
  input: Readable,
  name: string,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      count(chunk.byteLength);
      yield chunk;
    }
  } catch (error) {
    throw new InputError(`cannot read ${name}: ${messageOf(error)}`);
  }
}

/**
 * Reads at least `bytes` bytes, or everything if the stream is shorter. Returns the bytes read and a stream
 * that still includes them.
 */
async function withHead(
  chunks: AsyncIterable<Buffer>,
  bytes: number,
): Promise<{ head: Buffer; chunks: AsyncIterable<Buffer> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.byteLength < bytes) {
    const next = await iterator.next();
    if (next.done === true) break;
    head = head.byteLength === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, chunks: resumed(head, iterator) };
}

async function* resumed(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.byteLength > 0) yield head;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
}

async function* withoutFirst(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    yield left === 0 ? chunk : chunk.subarray(left);
    left = 0;
  }
}

async function* gunzip(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const inflate = createGunzip({ chunkSize: 256 * 1024 });
  const feeding = feed(chunks, inflate);
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`${name} is damaged: its gzip data cannot be read (${messageOf(error)})`);
  } finally {
    inflate.destroy();
  }
  await feeding;
}

/** Writes with back-pressure. If the source fails, the stream fails too, and its reader reports the error. */
async function feed(
  chunks: AsyncIterable<Buffer>,
  into: NodeJS.WritableStream & { destroy(e?: Error): unknown },
) {
  try {
    for await (const chunk of chunks) {
      if (!into.write(chunk)) await new Promise((resolve) => onceWritable(into, resolve));
    }
    into.end();
  } catch (error) {
    into.destroy(error instanceof Error ? error : new InputError(messageOf(error)));
  }
}

function onceWritable(stream: NodeJS.WritableStream, resolve: (value: unknown) => void): void {
  const done = () => {
    stream.removeListener("drain", done);
    stream.removeListener("close", done);
    resolve(undefined);
  };
  stream.on("drain", done);
  stream.on("close", done);
}
