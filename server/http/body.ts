// Body readers for route declarations. They check the content type and encoding, decompress, and parse JSON.
import { Readable } from "node:stream";
import { createGunzip, gunzip } from "node:zlib";
import { type ErrorCode, SkeinError } from "../ground/errors.js";
import { FIXED_LIMITS } from "../ground/limits.js";
import { PARSED_TIMES } from "../search/query-cost.js";
import { parseJson } from "./json.js";
import type { BodyReader } from "./route.js";
import type { HttpRequest } from "./transport/port.js";

const JSON_MEDIA = /^application\/(?:[\w.-]+\+)?json$/;
const BEACON_MEDIA = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain)$/;
const NDJSON_MEDIA = /^(?:application\/(?:json|x-ndjson|ndjson|jsonl|x-jsonlines|octet-stream)|text\/plain)$/;
/** The default content type of `curl -d`. */
const CURL_MEDIA = "application/x-www-form-urlencoded";
/** A batch exists this many times at once: as a body, decompressed, and as messages to the shards. */
const BATCH_TIMES = 3;
/** An import holds an unfinished line, some batches and replies about failed documents; an export, pages. */
export const STREAM_BYTES = 4 * 1024 * 1024;
const ISIZE_BYTES = 4;
/** Maximum number of header characters quoted in an error message. */
const SHOWN_MAX = 100;

type Asked = Parameters<BodyReader<unknown>>[0];

/** Reads a JSON value. If the body is not valid JSON, throws a SkeinError with the code `code`. */
export function jsonValue(code: ErrorCode): BodyReader<unknown> {
  return async (asked) => parsed(asked, await readBytes(asked, JSON_MEDIA), code);
}

/** Like `jsonValue`, but treats an empty body as {}. */
export function jsonValueIfAny(code: ErrorCode): BodyReader<unknown> {
  return async (asked) => {
    const bytes = await readBytes(asked, JSON_MEDIA);
    return bytes.length === 0 ? {} : parsed(asked, bytes, code);
  };
}

/**
 * Like `jsonValue`, but also accepts text/plain, for pages that can send nothing else (navigator.sendBeacon).
 */
export function beaconValue(code: ErrorCode): BodyReader<unknown> {
  return async (asked) => parsed(asked, await readBytes(asked, BEACON_MEDIA), code);
}

/** Reads the bytes of a JSON body without parsing or checking them. */
export const jsonBytes: BodyReader<Uint8Array> = (asked) => readBytes(asked, JSON_MEDIA);

/**
 * Like `jsonBytes`, but a large body also waits for one of the tenant's time slices before it is returned.
 */
export const jsonBytesInTurn: BodyReader<Uint8Array> = (asked) => {
  const bytes = jsonBytes(asked);
  return bytes instanceof Promise ? bytes.then((all) => inTurn(asked, all)) : inTurn(asked, bytes);
};

function inTurn(asked: Asked, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  const slice = sliceFor(asked, bytes);
  return slice === undefined ? bytes : slice.then(() => bytes);
}

/**
 * Reads the JSON body of a document route and decompresses it if it is gzipped. Does not parse or check the
 * JSON. `limit` applies before and after decompression.
 */
export function documentBody(limit: "batchBodyBytesMax" | "documentBytesMax"): BodyReader<Uint8Array> {
  return async (asked) => {
    const { request, services } = asked;
    const bytesMax = services.limits[limit];
    checkMedia(request, JSON_MEDIA, "application/json");
    const gzipped = isGzip(request);
    const body = await request.body(bytesMax, "SK-DOC-413");
    const bytes = gzipped ? await decompressed(asked, body, bytesMax) : await admitted(asked, body);
    if (bytes.byteLength === 0)
      throw new SkeinError("SK-DOC-400", "the body is empty; expected a JSON object");
    return bytes;
  };
}

/**
 * Reads an NDJSON body piece by piece, at the consumer's pace, and decompresses it if it is gzipped. Begins
 * once there is memory for an import.
 */
export const documentStream: BodyReader<AsyncIterable<Uint8Array>> = async (asked) => {
  const { request } = asked;
  checkMedia(request, NDJSON_MEDIA, "application/x-ndjson");
  const gzipped = isGzip(request);
  await reserved(asked, STREAM_BYTES);
  return gzipped ? decompressStream(request.bodyStream()) : request.bodyStream();
};

function readBytes({ request, services }: Asked, accepted: RegExp): Uint8Array | Promise<Uint8Array> {
  checkMedia(request, accepted, "application/json");
  if (!isPlain(encodingOf(request))) throw unsupportedEncoding(request, "identity");
  return request.body(services.limits.jsonBodyBytesMax, "SK-SYS-413");
}

/** Parses the body once there is memory for its value and, if the body is large, in a time slice. */
async function parsed(asked: Asked, bytes: Uint8Array, code: ErrorCode): Promise<unknown> {
  await reserved(asked, PARSED_TIMES * bytes.byteLength);
  await sliceFor(asked, bytes);
  return parseJson(bytes, { depthMax: FIXED_LIMITS.jsonDepthMax, code });
}

/** Waits for one of the tenant's time slices, if working on the bytes takes one. */
function sliceFor({ request, services, principal }: Asked, bytes: Uint8Array): Promise<void> | undefined {
  return services.reads.slices.forBytes(principal.tenant, bytes.byteLength, request.life);
}

/** Reserves memory until the life ends, which is that of the request unless another one is given. */
export function reserved(
  { request, services, principal }: Asked,
  bytes: number,
  life = request.life,
): Promise<void> | undefined {
  return services.admission.others.reserve(principal, life, bytes);
}

/**
 * Throws SK-SYS-415 if `accepted` does not match the media type or if the charset is not UTF-8 or ASCII. A
 * missing Content-Type is accepted.
 */
function checkMedia(request: HttpRequest, accepted: RegExp, expected: string): void {
  if (request.header("content-type") === expected) return;
  const [media = "", ...parameters] = request.header("content-type").toLowerCase().split(";");
  if (media.trim() !== "" && !accepted.test(media.trim())) {
    const came = media.trim().slice(0, SHOWN_MAX);
    const hint = came === CURL_MEDIA ? `; with curl -d, add -H "Content-Type: ${expected}"` : "";
    throw new SkeinError("SK-SYS-415", `the Content-Type must be ${expected}, not ${came}${hint}`);
  }
  const charset = parameters
    .map((parameter) => /^\s*charset="?([^"]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean);
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
    throw new SkeinError("SK-SYS-415", `the charset must be utf-8, not ${charset.slice(0, SHOWN_MAX)}`);
  }
}

function encodingOf(request: HttpRequest): string {
  return request.header("content-encoding").toLowerCase();
}

function isPlain(encoding: string): boolean {
  return encoding === "" || encoding === "identity";
}

function isGzip(request: HttpRequest): boolean {
  const encoding = encodingOf(request);
  if (isPlain(encoding)) return false;
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  throw unsupportedEncoding(request, "gzip");
}

function unsupportedEncoding(request: HttpRequest, accepted: string): SkeinError {
  const came = encodingOf(request).slice(0, SHOWN_MAX);
  return new SkeinError("SK-SYS-415", `the Content-Encoding must be ${accepted} or absent, not ${came}`);
}

async function admitted(asked: Asked, batch: Uint8Array): Promise<Uint8Array> {
  await reserved(asked, BATCH_TIMES * batch.byteLength);
  return batch;
}

/**
 * Decompresses a batch once there is memory for the length that its gzip trailer states. If it is longer (it
 * has several members, or the trailer lies), decompresses it again once there is memory for `bytesMax`. The
 * first reservation is released before that: if several requests kept theirs, none might ever get the second.
 */
async function decompressed(asked: Asked, body: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  const stated = Math.min(statedLength(body), bytesMax);
  const attempt = asked.request.life.part();
  await reserved(asked, BATCH_TIMES * stated, attempt);
  let bytes = await decompress(body, stated);
  if (bytes !== null) return bytes;
  const tooLarge = new SkeinError("SK-DOC-413", `the decompressed body is larger than ${bytesMax} bytes`);
  attempt.end(tooLarge);
  if (stated < bytesMax) {
    await reserved(asked, BATCH_TIMES * bytesMax);
    bytes = await decompress(body, bytesMax);
  }
  if (bytes === null) throw tooLarge;
  return bytes;
}

/** Length of the data, modulo 2^32, that the trailer of the last gzip member states (RFC 1952, ISIZE). */
function statedLength(gzipped: Uint8Array): number {
  const { buffer, byteOffset, byteLength } = gzipped;
  return byteLength < ISIZE_BYTES
    ? 0
    : new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - ISIZE_BYTES, true);
}

/** Resolves with null if the data is longer than `bytesMax`. */
function decompress(body: Uint8Array, bytesMax: number): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    gunzip(body, { maxOutputLength: Math.max(1, bytesMax) }, (error, result) => {
      if (error === null) resolve(result);
      else if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") resolve(null);
      else reject(notGzip(error));
    });
  });
}

async function* decompressStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks, { objectMode: false });
  const unpacked = createGunzip();
  source.on("error", (error) => unpacked.destroy(error));
  source.pipe(unpacked);
  try {
    for await (const chunk of unpacked) yield chunk as Uint8Array;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw typeof code === "string" && code.startsWith("Z_") ? notGzip(error) : error;
  } finally {
    source.destroy();
  }
}

function notGzip(cause: unknown): SkeinError {
  return new SkeinError("SK-DOC-400", "the body is not valid gzip", { cause });
}
