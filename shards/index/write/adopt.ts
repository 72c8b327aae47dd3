// Takes over documents of another number of shards with the sequence numbers they have: they were accepted long
// ago, so nothing is looked up and nothing can be refused. For an index that nobody reads or writes yet.
import type { AdoptRequest } from "../../protocol/operations/move.js";
import { hasInternalMembers } from "../../query/internal.js";
import { documentPuts } from "../../segments/document-puts.js";
import { newVectors } from "../../vectors/new-vectors.js";
import type { ShardIndexState } from "../state.js";
import type { Turns } from "../turns.js";
import { buildTolerant } from "../upkeep/reindex-job.js";
import { commitWrite, type NewSegment } from "./write-commit.js";

/** One segment and one commit. To be run in the index's lane. */
export async function adoptDocuments(
  state: ShardIndexState,
  request: AdoptRequest,
  turns: Turns,
): Promise<void> {
  const { generation, maxSeq, documents } = request;
  const workbench = state.home.workbench();
  const segments: NewSegment[] = [];
  if (documents.length > 0) {
    const rows = documents.map((_, op) => ({ op, born: generation, died: Number.POSITIVE_INFINITY }));
    const { bytes, pushed } = buildTolerant(documents, state.schema, workbench);
    const shown = documents.map(({ seq }) => ({ seq, shown: true }));
    segments.push({ bytes, rows, vectors: await newVectors(state.vectors, bytes, shown, pushed, turns) });
  }
  await commitWrite(state, {
    generations: [{ generation, maxSeq }],
    oldestGeneration: generation,
    segments,
    dying: [],
    documents: documentPuts(
      state.uid,
      documents.map(({ seq, id, raw }) => ({ seq, id, raw, internal: hasInternalMembers(raw, workbench) })),
    ),
    dead: [],
  });
}
