// Computes the result of a sequence of operations before anything is built: which raw documents become rows
// and which operations fail. Operations apply in order, so each operation sees the effect of earlier
// operations on the same id. Pure, except for the workbench's JSON scanner and the thread's time slices.
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import {
  Action,
  DOC_BATCH_TOO_LARGE,
  DOC_EXISTS,
  DOC_MISSING,
  DOC_TOO_LARGE,
  NO_SLOT,
} from "../../protocol/ops.js";
import { spliceMembers } from "../../query/splice.js";
import type { Slices } from "../slices.js";
import type { StoredVersion } from "../stored-versions.js";
import { sameDocument } from "./same-json.js";

/** One document of a write request. */
export interface WriteOp {
  action: Action;
  generation: number;
  seq: number;
  id: string;
  hash: bigint;
  raw: Uint8Array;
}

export interface OpFailure {
  /** One of the DOC_* codes. */
  code: number;
  slot: number;
  at: number;
}

/** Limits and tools for applying operations. */
export interface PlanRules {
  workbench: Workbench;
  /** Maximum length of an updated document in bytes. */
  documentBytesMax: number;
  /**
   * Maximum total size of the documents that a request writes. Once the documents refused for this reason add
   * up to the same size, the request's remaining updates fail without being tried.
   */
  resultBytesMax: number;
  /**
   * The thread's time slices. Many changes to large documents take long, so other work must run in between.
   */
  slices: Pick<Slices, "over" | "next">;
}

/** A document to build, with the index of its operation. */
export interface PlannedRow {
  op: number;
  raw: Uint8Array;
}

export interface WritePlan {
  /** Ascending by operation and therefore by seq. */
  rows: PlannedRow[];
  failures: Map<number, OpFailure>;
  /** Indexes of operations without effect: unchanged documents and SYNC marks (see Action). */
  left: Set<number>;
}

/**
 * Plans the operations. `refused`: operations whose documents failed an earlier build. Assumes that every
 * planned row can be built; if one cannot and other operations depend on it, the caller adds it to `refused`
 * and plans again.
 */
export async function planRows(
  ops: readonly WriteOp[],
  stored: ReadonlyMap<string, StoredVersion>,
  refused: ReadonlyMap<number, OpFailure>,
  rules: PlanRules,
): Promise<WritePlan> {
  const rows: PlannedRow[] = [];
  const failures = new Map(refused);
  const left = new Set<number>();
  const current = new Map<string, Uint8Array | null>();
  let generation = -1;
  let resultBytes = 0;
  let refusedBytes = 0;
  for (const [i, op] of ops.entries()) {
    if (refused.has(i)) continue;
    if (rules.slices.over) await rules.slices.next();
    if (op.generation !== generation) [resultBytes, refusedBytes] = [0, 0];
    generation = op.generation;
    if (refusedBytes > rules.resultBytesMax && isChange(op)) {
      failures.set(i, failure(DOC_BATCH_TOO_LARGE));
      continue;
    }
    const known = current.get(op.id);
    const before = known === undefined ? (stored.get(op.id)?.raw ?? null) : known;
    const after = applyOp(op, before, rules);
    if (after === before) {
      left.add(i);
      continue;
    }
    if (after !== null && "code" in after) {
      failures.set(i, after);
      continue;
    }
    const bytes = after?.length ?? 0;
    if (resultBytes + bytes > rules.resultBytesMax) {
      refusedBytes += bytes;
      failures.set(i, failure(DOC_BATCH_TOO_LARGE));
      continue;
    }
    resultBytes += bytes;
    current.set(op.id, after);
    if (after !== null) rows.push({ op: i, raw: after });
  }
  return { rows, failures, left };
}

/**
 * Returns the document after the operation (null if there is none), `before` itself if it is unchanged, or
 * the reason why the operation failed. A null `before` means that the id is unused.
 */
export function applyOp(
  op: WriteOp,
  before: Uint8Array | null,
  rules: PlanRules,
): Uint8Array | null | OpFailure {
  switch (op.action) {
    case Action.UPSERT:
      return op.raw;
    case Action.CREATE:
      return before === null ? op.raw : failure(DOC_EXISTS);
    case Action.UPDATE:
      return before === null ? failure(DOC_MISSING) : patched(before, op.raw, rules);
    case Action.EMPLACE:
      return before === null ? op.raw : patched(before, op.raw, rules);
    case Action.DELETE:
      return before === null ? failure(DOC_MISSING) : null;
    case Action.SYNC:
      return op.raw.length === 0 || isSame(before, op.raw, rules) ? before : op.raw;
  }
}

function isChange({ action }: WriteOp): boolean {
  return action === Action.UPDATE || action === Action.EMPLACE;
}

function isSame(before: Uint8Array | null, raw: Uint8Array, rules: PlanRules): boolean {
  return before !== null && sameDocument(before, raw, rules.workbench);
}

/**
 * Applies a patch to a document. A document that is already too long may still be patched if it does not
 * grow.
 */
function patched(before: Uint8Array, patch: Uint8Array, rules: PlanRules): Uint8Array | OpFailure {
  try {
    const after = spliceMembers(before, patch, rules.workbench);
    const bytesMax = Math.max(rules.documentBytesMax, before.length);
    return after.length > bytesMax ? failure(DOC_TOO_LARGE) : after;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "json") throw error;
    return { code: error.documentStatus, slot: NO_SLOT, at: error.at };
  }
}

function failure(code: number): OpFailure {
  return { code, slot: NO_SLOT, at: 0 };
}

/** For each id, the last operation whose outcome depends on earlier operations on the same id. */
export function lastDependents(ops: readonly WriteOp[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const [i, { id, action }] of ops.entries()) {
    if (action !== Action.UPSERT) last.set(id, i);
  }
  return last;
}

/** A row of a new segment and the generations in which it is live: born <= g < died. */
export interface NewRow {
  op: number;
  born: number;
  died: number;
}

/** A row of an older segment, deleted in generation `died`. */
export interface DyingRow {
  entry: number;
  row: number;
  seq: number;
  died: number;
}

/**
 * Computes when rows are born and die, given the failed operations. Also finds, for each SYNC operation that
 * fails or changes nothing, the seq of the version that it keeps. `born` and `kept` are keyed by operation.
 */
export function resolveDeaths(
  ops: readonly WriteOp[],
  stored: ReadonlyMap<string, StoredVersion>,
  { failures, left }: Pick<WritePlan, "failures" | "left">,
): { born: Map<number, NewRow>; dying: DyingRow[]; kept: Map<number, number> } {
  const born = new Map<number, NewRow>();
  const dying: DyingRow[] = [];
  const kept = new Map<number, number>();
  const current = new Map<string, NewRow | null>();
  for (const [i, op] of ops.entries()) {
    const before = current.get(op.id);
    const version = before === undefined ? stored.get(op.id) : undefined;
    if (failures.has(i) || left.has(i)) {
      const seq = version?.seq ?? (before ? ops[before.op]!.seq : undefined);
      if (op.action === Action.SYNC && seq !== undefined) kept.set(i, seq);
      continue;
    }
    if (version !== undefined) {
      dying.push({ entry: version.entry, row: version.row, seq: version.seq, died: op.generation });
    }
    if (before) before.died = op.generation;
    if (op.action === Action.DELETE) {
      current.set(op.id, null);
      continue;
    }
    const row: NewRow = { op: i, born: op.generation, died: Number.POSITIVE_INFINITY };
    current.set(op.id, row);
    born.set(i, row);
  }
  return { born, dying, kept };
}
