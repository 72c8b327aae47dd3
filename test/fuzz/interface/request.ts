// A request of the interface fuzzer as text, so that it can be printed, stored and reduced:
//
//   qzacme-search POST /v1/indexes/qzacme-shoes/query        caller, method, path
//   content-type: application/json                           headers
//   %gzip                                                    transfer of the body
//                                                            an empty line
//   {"q": "shoe"}                                            the body before transfer
//
// {key} in the path stands for the key, which is then in no header. {feeds} is the port of the feed server.
import { gzipSync } from "node:zlib";

export interface FuzzRequest {
  /** Name of one of the world's principals. */
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly transfer: readonly Transfer[];
  /** Null if no body is sent. */
  readonly body: Uint8Array | null;
}

/** gzip compresses the body; cut omits its last bytes, and Content-Length matches the bytes sent. */
const TRANSFERS = ["gzip", "cut"] as const;
type Transfer = (typeof TRANSFERS)[number];

const START = /^(\S+) ([A-Z]+) (\/\S*)$/;
const HEADER = /^([\w-]+): ?(.*)$/;
const CUT_BYTES = 9;
/** With a head of at most this many bytes, the HTTP library never refuses a request as too long. */
const HEAD_BYTES_SAFE = 15_000;
/** If a character is repeated many times in a row, this many of them are shown. */
const REPEATED_SHOWN = 20;

export function encodeRequest({ as, method, path, headers, transfer, body }: FuzzRequest): Uint8Array {
  const head = [
    `${as} ${method} ${path}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...transfer.map((step) => `%${step}`),
  ].join("\n");
  return body === null
    ? Buffer.from(head, "latin1")
    : Buffer.concat([Buffer.from(`${head}\n\n`, "latin1"), body]);
}

/** Returns null if the text is not a request. */
export function decodeRequest(input: Uint8Array): FuzzRequest | null {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const end = bytes.indexOf("\n\n");
  const [start = "", ...lines] = bytes.toString("latin1", 0, end < 0 ? bytes.length : end).split("\n");
  const [, as, method, path] = START.exec(start) ?? [];
  if (as === undefined || method === undefined || path === undefined) return null;
  const transfer = TRANSFERS.filter((step) => lines.includes(`%${step}`));
  const headers = lines.map((line) => HEADER.exec(line)?.slice(1) as [string, string] | undefined);
  return {
    as,
    method,
    path,
    headers: headers.filter((header) => header !== undefined),
    transfer,
    body: end < 0 ? null : bytes.subarray(end + 2),
  };
}

/** The body as sent, after compression and cutting. */
export function sentBody({ body, transfer }: FuzzRequest): Uint8Array | null {
  if (body === null) return null;
  const bytes = transfer.includes("gzip") ? gzipSync(body) : body;
  return transfer.includes("cut") ? bytes.subarray(0, Math.max(0, bytes.length - CUT_BYTES)) : bytes;
}

/** The request's full text in lower case, without percent-encoding and JSON escapes. */
export function saidBy({ path, headers, body }: FuzzRequest): string {
  const text = [path, ...headers.flat(), body === null ? "" : Buffer.from(body).toString("utf8")].join("\n");
  const plain = text
    .replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\u00([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return plain.toLowerCase();
}

/** Formats the request for a human reader: long bodies are shortened, and non-text bytes are escaped. */
export function shownRequest(request: FuzzRequest): string {
  const text = Buffer.from(encodeRequest(request)).toString("latin1");
  const shown = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll("\\n", "\n")
    .replaceAll('\\"', '"')
    .replace(/(.)\1{60,}/g, (run: string) => `${run.slice(0, REPEATED_SHOWN)}...(${run.length} times)`);
  return shown.length > 6000 ? `${shown.slice(0, 6000)}... (${text.length} bytes)` : shown;
}

/**
 * True if the HTTP library itself may refuse the request, with a reply that is not in the server's format:
 * the head is long, or the path has bytes outside ASCII.
 */
export function isForTheLibrary({ path, headers }: FuzzRequest): boolean {
  const bytes = path.length + headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return bytes > HEAD_BYTES_SAFE || /[\x80-\xff]/.test(path);
}
