// Sends a JSON lines file, byte for byte, as fast as the server accepts it, in requests of a few thousand
// lines over several connections. Records when documents were acknowledged.

import { open } from "node:fs/promises";
import type { ApiClient } from "../../server/cli/api.js";

const READ_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const TENTHS = 10;
const BUSY_PAUSE_MS = 250;

export interface ImportOptions {
  readonly index: string;
  readonly linesPerRequest: number;
  readonly requestsAtATime: number;
}

export interface Acknowledged {
  /** Milliseconds since the start. */
  readonly ms: number;
  readonly documents: number;
}

export interface ImportOutcome {
  readonly seconds: number;
  readonly documents: number;
  readonly rejected: number;
  /** Requests answered with 429 or 503 and sent again. */
  readonly repeated: number;
  /** Documents per second in each tenth of the import (a tenth of the documents, not of the time). */
  readonly tenths: readonly number[];
}

/** Resolves when every document is acknowledged. Throws on any answer other than success or "busy". */
export async function importFile(
  client: ApiClient,
  path: string,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const target = `/v1/indexes/${options.index}/documents/import`;
  const acknowledged: Acknowledged[] = [];
  const counts = { documents: 0, rejected: 0, repeated: 0 };
  const requests = linesOf(path, options.linesPerRequest);
  const started = performance.now();
  const send = async (): Promise<void> => {
    for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
      const body = { parts: [next.value], contentType: "application/x-ndjson" };
      let reply = await client.exchange("POST", target, body);
      for (; reply.status === 429 || reply.status === 503; counts.repeated++) {
        await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
        reply = await client.exchange("POST", target, body);
      }
      const { succeeded, failed } = summaryOf(reply.status, reply.body.toString("utf8"));
      counts.documents += succeeded;
      counts.rejected += failed;
      acknowledged.push({ ms: performance.now() - started, documents: counts.documents });
    }
  };
  await Promise.all(Array.from({ length: options.requestsAtATime }, send));
  return { seconds: (performance.now() - started) / 1000, ...counts, tenths: ratesByTenth(acknowledged) };
}

/**
 * Import rate (documents per second) for each tenth of the documents, interpolated linearly between
 * acknowledgements. `acknowledged` contains running totals in chronological order.
 */
export function ratesByTenth(acknowledged: readonly Acknowledged[]): number[] {
  const total = acknowledged.at(-1)?.documents ?? 0;
  if (total === 0) return [];
  let at = 0;
  const timeOf = (documents: number): number => {
    while (acknowledged[at]!.documents < documents) at++;
    const after = acknowledged[at]!;
    const before = acknowledged[at - 1] ?? { ms: 0, documents: 0 };
    const step = after.documents - before.documents;
    const share = step === 0 ? 1 : (documents - before.documents) / step;
    return before.ms + share * (after.ms - before.ms);
  };
  const times = Array.from({ length: TENTHS }, (_, i) => timeOf((total * (i + 1)) / TENTHS));
  return times.map((time, i) => (total / TENTHS / (time - (times[i - 1] ?? 0))) * 1000);
}

/** The file's bytes, split after every `count` lines. */
async function* linesOf(path: string, count: number): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    let pieces: Buffer[] = [];
    let lines = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, null);
      if (bytesRead === 0) break;
      let rest = buffer.subarray(0, bytesRead);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, end + 1)) {
        if (++lines < count) continue;
        yield Buffer.concat([...pieces, rest.subarray(0, end + 1)]);
        rest = rest.subarray(end + 1);
        pieces = [];
        lines = 0;
        end = -1;
      }
      pieces.push(rest);
    }
    const last = Buffer.concat(pieces);
    if (last.length > 0) yield last;
  } finally {
    await file.close();
  }
}

/** Parses the last line of an import response. */
function summaryOf(status: number, body: string): { succeeded: number; failed: number } {
  const summary = JSON.parse(body.trimEnd().split("\n").at(-1) ?? "") as {
    succeeded?: number;
    failed?: number;
  };
  if (status !== 200 || summary.succeeded === undefined || summary.failed === undefined) {
    throw new Error(`an import was answered with ${status}: ${body.slice(0, 500)}`);
  }
  return { succeeded: summary.succeeded, failed: summary.failed };
}
