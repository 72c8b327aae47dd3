// Rebuilds a segment with an older schema from the stored documents. The new segments have the same documents
// and seqs, but new columns and terms. Reads use the old segment until the new segments are switched in. A
// stored document cannot be refused, so a value that does not fit the new schema stays in the document but is
// not indexed.
import { FLAG_REQUIRED } from "../../../engine-wasm/assembly/layout.js";
import type { BuildDocument, BuildResult } from "../../../engine-wasm/host/instance/build.js";
import type { BuildSchema, Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { shardFault } from "../../fault.js";
import type { ShardSchema } from "../../protocol/control.js";
import { withoutMembers } from "../../query/splice.js";
import { decodeDocument } from "../../segments/document-record.js";
import { chooseMerge, type MergeEagerness } from "../../segments/merge-policy.js";
import {
  dropEntries,
  engineEntries,
  type LiveSegment,
  type OpenSegment,
  takeEntries,
} from "../../segments/open-segment.js";
import { documentRange, numberOfKey } from "../../storage/keyspace.js";
import { adoptSegment, attachSegment } from "../fresh-segment.js";
import { MERGE_BUSY, MERGE_IDLE, REINDEX_INPUT_BYTES } from "../limits.js";
import { KillWatch, prepareReplacement, type Replacement, switchSegments } from "../segment-switch.js";
import type { JobContext } from "./job-context.js";
import { keptDeletedSeqs } from "./kept-rows.js";
import { mergeSlices } from "./merge-slices.js";

export interface StoredDocument {
  seq: number;
  raw: Uint8Array;
}

/** Resolves when the new segments are in place. Has no effect if `stopped` returns true before that. */
export async function reindexJob(
  context: JobContext,
  stale: LiveSegment,
  stopped: () => boolean,
): Promise<void> {
  const { state, lane, slices } = context;
  const { schema } = state;
  const watch = new KillWatch(state, [stale], keptDeletedSeqs(state, [stale]));
  const fresh: OpenSegment[] = [];
  takeEntries([stale]);
  try {
    for await (const documents of keptDocuments(context, stale)) {
      await slices.next();
      if (stopped()) return;
      shardFault("reindex.before-build");
      const { bytes } = await buildTolerant(documents, schema, state.home.workbench(), state.home.builder);
      if (stopped()) return;
      fresh.push(attachSegment(state, bytes, schema.version));
      if (!(await mergeFresh(context, fresh, MERGE_BUSY, schema.version, stopped))) return;
    }
    if (!(await mergeFresh(context, fresh, MERGE_IDLE, schema.version, stopped))) return;
    const replacements: Replacement[] = [];
    for (const one of fresh) replacements.push(await prepareReplacement(state, one));
    await lane.run(() => switchSegments(state, [stale], replacements, watch, slices));
  } finally {
    watch.end();
    for (const segment of fresh) segment.drop();
    dropEntries([stale]);
  }
}

/** Yields the documents whose rows are kept, ascending by seq, in batches of about REINDEX_INPUT_BYTES. */
async function* keptDocuments(
  { state }: JobContext,
  entry: LiveSegment,
): AsyncIterableIterator<StoredDocument[]> {
  const { firstSeq, lastSeq } = entry.segment.record;
  const deleted = state.surelyDeleted(entry.segment);
  let slice: StoredDocument[] = [];
  let bytes = 0;
  const kept = (): StoredDocument[] => {
    const snapshot = state.engine.setSnapshot(engineEntries([entry]));
    const places = state.engine.locate(
      snapshot,
      Float64Array.from(slice, ({ seq }) => seq),
    );
    state.engine.releaseSnapshot(snapshot);
    return slice.filter((_, i) => places[i]!.entry >= 0 && !deleted.has(places[i]!.row));
  };
  for await (const [key, value] of state.home.store.entries(documentRange(state.uid, firstSeq, lastSeq))) {
    slice.push({ seq: numberOfKey(key), raw: decodeDocument(key, value).raw });
    bytes += value.length;
    if (bytes < REINDEX_INPUT_BYTES) continue;
    const documents = kept();
    if (documents.length > 0) yield documents;
    slice = [];
    bytes = 0;
  }
  const documents = kept();
  if (documents.length > 0) yield documents;
}

/** Merges the new segments with each other according to the merge policy. Returns false if stopped. */
async function mergeFresh(
  { state, slices }: JobContext,
  fresh: OpenSegment[],
  eagerness: MergeEagerness,
  schemaVersion: number,
  stopped: () => boolean,
): Promise<boolean> {
  for (;;) {
    const sizes = fresh.map(({ record }) => ({ ...record, deleted: 0, stale: false }));
    const choice = chooseMerge(sizes, eagerness);
    if (choice === null) return true;
    const run = fresh.slice(choice.first, choice.first + choice.count);
    const entries = run.map((segment): LiveSegment => ({ segment, live: null }));
    const merged = await mergeSlices(state, entries, slices, stopped);
    if (merged === null) return false;
    fresh.splice(choice.first, choice.count, adoptSegment(state, merged, schemaVersion));
    for (const segment of run) segment.drop();
  }
}

/** Implemented by Builder, and by Workbench where no request is waiting. */
export interface SegmentBuilder {
  build(schema: BuildSchema, documents: readonly BuildDocument[]): BuildResult | Promise<BuildResult>;
}

/**
 * Builds one segment from all the documents. `pushed`: the vectors that came with the documents, by row; null
 * if none did.
 */
export async function buildTolerant(
  documents: StoredDocument[],
  schema: ShardSchema,
  workbench: Workbench,
  builder: SegmentBuilder,
): Promise<{ bytes: Uint8Array; pushed: Uint8Array | null }> {
  const fields = schema.fields.map((field) => ({ ...field, flags: field.flags & ~FLAG_REQUIRED }));
  const tolerant = { ...schema, fields };
  const names = new Map(schema.fields.map(({ slot, name }) => [slot, name]));
  const indexed = [...documents];
  // Each round removes at least one member from every document that failed.
  for (let round = 0; round <= schema.fields.length + 1; round++) {
    const { segment, failures, vectors } = await builder.build(tolerant, indexed);
    if (failures.length === 0 && segment !== null) return { bytes: segment, pushed: vectors };
    for (const { index, slot } of failures) {
      const { seq, raw } = indexed[index]!;
      indexed[index] = { seq, raw: leaveOut(raw, names.get(slot), workbench) };
    }
  }
  throw new Error("a stored document cannot be indexed even without its fields");
}

/** Returns the document without the named member. If the failing member is unknown, only the id remains. */
function leaveOut(raw: Uint8Array, name: string | undefined, workbench: Workbench): Uint8Array {
  if (name !== undefined) return withoutMembers(raw, new Set([name]), workbench);
  const others = workbench.topLevel(raw).map((member) => member.name);
  return withoutMembers(raw, new Set(others.filter((other) => other !== "id")), workbench);
}
