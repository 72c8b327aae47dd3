// A request of the interface fuzzer as text, so that it can be printed, kept and made smaller:
//
//   qzacme-search POST /v1/indexes/qzacme-shoes/query        who asks, what, where
//   content-type: application/json                           headers
//   %gzip                                                    what happens to the body on its way
//                                                            an empty line
//   {"q": "shoe"}                                            the body, as it is before that
//
// The path says {key} where the key stands in the URL, and then no header has it. {feeds} is the port of the feeds' server.
import { gzipSync } from "node:zlib";

export interface FuzzRequest {
  /** The name of one of the world's principals. */
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly transfer: readonly Transfer[];
  /** Null: none is sent. */
  readonly body: Uint8Array | null;
}

/** gzip: compressed; cut: its last bytes are not sent, and its length is that of what is sent. */
const TRANSFERS = ["gzip", "cut"] as const;
type Transfer = (typeof TRANSFERS)[number];

const START = /^(\S+) ([A-Z]+) (\/\S*)$/;
const HEADER = /^([\w-]+): ?(.*)$/;
const CUT_BYTES = 9;
/** Heads up to here are surely not too long for the HTTP library. */
const HEAD_BYTES_SAFE = 15_000;
/** Characters that are shown of one that is repeated. */
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

/** Null for a text that is no request. */
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

/** The body as it is sent. */
export function sentBody({ body, transfer }: FuzzRequest): Uint8Array | null {
  if (body === null) return null;
  const bytes = transfer.includes("gzip") ? gzipSync(body) : body;
  return transfer.includes("cut") ? bytes.subarray(0, Math.max(0, bytes.length - CUT_BYTES)) : bytes;
}

/** Everything that the request says, in lower case, percent-encoding and JSON's escapes undone. */
export function saidBy({ path, headers, body }: FuzzRequest): string {
  const text = [path, ...headers.flat(), body === null ? "" : Buffer.from(body).toString("utf8")].join("\n");
  const plain = text
    .replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\u00([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return plain.toLowerCase();
}

/** For a person: long bodies are shortened, and other bytes than text are escaped. */
export function shownRequest(request: FuzzRequest): string {
  const text = Buffer.from(encodeRequest(request)).toString("latin1");
  const shown = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll("\\n", "\n")
    .replaceAll('\\"', '"')
    .replace(/(.)\1{60,}/g, (run: string) => `${run.slice(0, REPEATED_SHOWN)}...(${run.length} times)`);
  return shown.length > 6000 ? `${shown.slice(0, 6000)}... (${text.length} bytes)` : shown;
}

/** A long head, or a path with other bytes than ASCII, may be refused by the HTTP library, which knows no envelope. */
export function isForTheLibrary({ path, headers }: FuzzRequest): boolean {
  const bytes = path.length + headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return bytes > HEAD_BYTES_SAFE || /[\x80-\xff]/.test(path);
}
