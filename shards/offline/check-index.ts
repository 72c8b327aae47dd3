// Checks that one index's parts are consistent: every live row has its document, every document has its row,
// ids and sequence numbers are unique, and nothing is left over. Works on the output of index-contents.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { OfflineIndex } from "../protocol/offline.js";
import { describeKey, documentKey, manifestKey, schemaKey, vectorKey } from "../storage/keyspace.js";
import type { StoredIndex } from "./index-contents.js";
import { documentName } from "./index-contents.js";

/**
 * Returns the inconsistencies, one sentence each, and the live documents by seq. If a drop was interrupted,
 * reports only unreadable records, and no documents. `index`: the index's catalog record, if there is one.
 */
export function checkContents(
  contents: StoredIndex,
  index: OfflineIndex | undefined,
  workbench: Workbench,
): { problems: string[]; live: Map<number, string> } {
  const { uid, manifest, schema, documents, dead } = contents;
  const problems = [...contents.problems];
  const live = new Map([...documents].filter(([seq]) => !dead.has(seq)));
  if (contents.dropping) return { problems, live: new Map() };
  const missing = (key: Uint8Array): void => {
    const found = `${describeKey(key)}: missing`;
    if (!problems.some((problem) => problem.startsWith(describeKey(key)))) problems.push(found);
  };
  if (manifest === null) missing(manifestKey(uid));
  if (schema === null) missing(schemaKey(uid));
  if (manifest === null) return { problems, live };
  checkNumbers(contents, problems);
  checkRows(contents, live, workbench, problems);
  checkIds(uid, live, index, workbench, problems);
  checkVectors(contents, problems);
  return { problems, live };
}

function checkNumbers(contents: StoredIndex, problems: string[]): void {
  const { uid, manifest, seqMax, pieceSegments, unfinished } = contents;
  if (manifest === null) return;
  if (seqMax > manifest.maxSeq) {
    problems.push(`index ${uid}, manifest: older than ${documentName(uid, seqMax)}`);
  }
  const named = new Set(manifest.segments.map(({ id }) => id));
  for (const segment of pieceSegments) {
    if (named.has(segment) || unfinished.has(segment)) continue;
    problems.push(`index ${uid}, segment ${segment}: stored, but the manifest does not name it`);
  }
}

function checkRows(
  contents: StoredIndex,
  live: ReadonlyMap<number, string>,
  workbench: Workbench,
  problems: string[],
): void {
  const { uid, segments, unreadable } = contents;
  const broken = new Set(unreadable.map(({ seq }) => seq));
  const rows = new Map<number, bigint>();
  let whole = true;
  for (const { record, rows: found, deleted } of segments) {
    if (found === null || deleted === null) whole = false;
    let previous = record.firstSeq - 1;
    for (const [row, { seq, hash }] of (found ?? []).entries()) {
      if (seq <= previous)
        problems.push(`index ${uid}, segment ${record.id}: sequence numbers do not ascend`);
      previous = seq;
      if (deleted === null || deleted.has(row)) continue;
      rows.set(seq, hash);
      if (!live.has(seq) && !broken.has(seq)) problems.push(`${documentName(uid, seq)}: missing`);
    }
  }
  for (const [seq, id] of live) {
    const hash = rows.get(seq);
    if (hash === undefined) {
      if (whole) problems.push(`${documentName(uid, seq)}: no segment has a live row for it`);
    } else if (hash !== workbench.hash(id)) {
      problems.push(`${documentName(uid, seq)}: its id is not the one of its row`);
    }
  }
}

/**
 * Reports vectors whose document is not stored. A dead document may still have its vector: the two stay in
 * the database until one batch deletes both.
 */
function checkVectors({ uid, vectors, documents, unreadable }: StoredIndex, problems: string[]): void {
  const broken = new Set(unreadable.map(({ seq }) => seq));
  for (const seq of vectors) {
    if (documents.has(seq) || broken.has(seq)) continue;
    problems.push(`${describeKey(vectorKey(uid, seq))}: its document is not stored`);
  }
}

function checkIds(
  uid: number,
  live: ReadonlyMap<number, string>,
  index: OfflineIndex | undefined,
  workbench: Workbench,
  problems: string[],
): void {
  const seqById = new Map<string, number>();
  for (const [seq, id] of live) {
    const other = seqById.get(id);
    if (other !== undefined) {
      problems.push(`${documentName(uid, seq)}: has the same id as ${describeKey(documentKey(uid, other))}`);
    }
    seqById.set(id, seq);
    if (index !== undefined && Number(workbench.hash(id) >> 32n) % index.shards !== index.part) {
      problems.push(`${documentName(uid, seq)}: belongs to another shard`);
    }
  }
}
