// Adds documents from other shards under their existing sequence numbers. They were accepted earlier, so
// there is nothing to look up or refuse. Nobody may be reading or writing these documents in this shard yet.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { AdoptRequest, MovedDocument } from "../../protocol/move.js";
import { hasInternalMembers } from "../../query/internal.js";
import { documentPuts, type NumberedDocument } from "../../segments/document-puts.js";
import { newVectors } from "../../vectors/new-vectors.js";
import type { NewVectors } from "../../vectors/vector-record.js";
import type { Slices } from "../slices.js";
import type { ShardIndexState } from "../state.js";
import { buildTolerant } from "../upkeep/reindex-job.js";
import { commitWrite, type NewSegment, type WriteChange } from "./write-commit.js";

/**
 * Adds the documents as one segment in one commit. The commit is always synced, because the originals are
 * dropped next. Runs in the index's lane.
 */
export async function adoptDocuments(
  state: ShardIndexState,
  request: AdoptRequest,
  slices: Slices,
): Promise<void> {
  const { generation, maxSeq, documents } = request;
  const workbench = state.home.workbench();
  const segments: NewSegment[] = [];
  if (documents.length > 0) {
    const rows = documents.map((_, op) => ({ op, born: generation, died: Number.POSITIVE_INFINITY }));
    const { bytes, pushed } = await buildTolerant(documents, state.schema, workbench, state.home.builder);
    segments.push({ bytes, rows, vectors: await movedVectors(state, bytes, documents, pushed, slices) });
  }
  const shown: NumberedDocument[] = [];
  for (const { seq, id, raw } of documents) {
    if (slices.over) await slices.next();
    shown.push({ seq, id, raw, internal: hasInternalMembers(raw, workbench) });
  }
  const change: WriteChange = {
    generations: [{ generation, maxSeq }],
    inDoubt: [],
    oldestGeneration: generation,
    segments,
    dying: [],
    documents: documentPuts(state.uid, shown),
    dead: [],
    sync: true,
  };
  await commitWrite(state, change, slices);
}

/**
 * Keeps the vectors that came with the documents, since an endpoint's vectors cost money. Makes new vectors
 * only if some are missing.
 */
async function movedVectors(
  state: ShardIndexState,
  segment: Uint8Array,
  documents: readonly MovedDocument[],
  pushed: Uint8Array | null,
  slices: Slices,
): Promise<NewVectors | null> {
  const { space } = state.vectors;
  if (space === null) return null;
  const { origin } = space;
  const moved = documents.map(({ vector }) => (vector?.origin === origin ? vector.vector : null));
  const written = documents.map(({ seq }) => ({ seq, shown: true, lives: true }));
  const made = moved.includes(null)
    ? await newVectors(state.vectors, segment, written, pushed, slices)
    : { origin, vectors: new Uint8Array(0), waiting: new Set<number>() };
  if (made === null) return null;
  const vectors = new Uint8Array(documents.length * VECTOR_BYTES);
  vectors.set(made.vectors);
  const waiting = new Set(made.waiting);
  for (const [row, vector] of moved.entries()) {
    if (vector === null) continue;
    vectors.set(vector, row * VECTOR_BYTES);
    waiting.delete(documents[row]!.seq);
  }
  return { origin, vectors, waiting, shown: shownVectors(origin, documents, vectors, waiting) };
}

/** The vectors to store. Documents waiting for a vector get none. */
function shownVectors(
  origin: number,
  documents: readonly MovedDocument[],
  vectors: Uint8Array,
  waiting: ReadonlySet<number>,
): NewVectors["shown"] {
  const rows = documents.flatMap(({ seq }, row) => (waiting.has(seq) ? [] : [row]));
  const some = rows.map((row) => vectors.subarray(row * VECTOR_BYTES, (row + 1) * VECTOR_BYTES));
  return { origin, seqs: rows.map((row) => documents[row]!.seq), vectors: Buffer.concat(some) };
}
