// Exports all of an index's documents, or those that match a filter, as NDJSON in pages. All pages are read
// from one generation, which is kept until the end, so the output shows a single state however slowly the
// client reads.
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { Reads } from "../../fleet/reads/reads.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import { compileDocumentFilter, type FilterTexts, filterProgram } from "./document-filter.js";

/** Number of documents requested from a shard at a time. */
const PAGE_DOCUMENTS = 500;

/** What an export needs from the server. */
interface Exporting extends FilterTexts {
  readonly reads: Reads;
}

/**
 * Yields NDJSON, one shard after the other, each shard's documents from oldest to newest. Throws SkeinError
 * before the first page if the filter is invalid. The reads end with `life`.
 */
export async function* exportDocuments(
  exporting: Exporting,
  record: IndexRecord,
  filterBy: string | null,
  life: RequestLife,
): AsyncGenerator<Uint8Array> {
  const filter =
    filterBy === null || filterBy.trim() === "" ? null : compileDocumentFilter(exporting, record, filterBy);
  const snapshot = await exporting.reads.snapshot(record.uid, life);
  try {
    for (let shard = 0; shard < snapshot.shards; shard++) {
      const pages =
        filter === null
          ? allPages(snapshot, shard, PAGE_DOCUMENTS)
          : filteredPages(snapshot, shard, PAGE_DOCUMENTS, filterProgram(filter));
      for await (const seqs of pages) yield* pageLines(snapshot, shard, seqs);
    }
  } finally {
    snapshot.release();
  }
}

/** Yields the page's lines in pieces of about 1 MiB, so that a slow client keeps only one piece in memory. */
async function* pageLines(
  snapshot: IndexSnapshot,
  shard: number,
  seqs: readonly number[],
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < seqs.length; ) {
    const { count, lines } = await snapshot.exportLines(shard, seqs.slice(at));
    at += count;
    yield lines;
  }
}

async function* allPages(snapshot: IndexSnapshot, shard: number, size: number): AsyncGenerator<number[]> {
  let last = 0;
  for (;;) {
    const seqs = await snapshot.seqsAfter(shard, last, size);
    if (seqs.length > 0) yield seqs;
    if (seqs.length < size) return;
    last = seqs.at(-1) as number;
  }
}

async function* filteredPages(
  snapshot: IndexSnapshot,
  shard: number,
  size: number,
  program: ReturnType<typeof filterProgram>,
): AsyncGenerator<number[]> {
  const seqs = (await snapshot.seqsFound(shard, program)).reverse();
  for (let at = 0; at < seqs.length; at += size) yield [...seqs.subarray(at, at + size)];
}
