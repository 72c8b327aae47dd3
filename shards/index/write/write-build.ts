// Turns operations into segments: plans them, builds parts of bounded size, and plans again if other
// operations depended on a bad document. Does not change the index.
import type { BuildDocument } from "../../../engine-wasm/host/instance/build.js";
import type { ShardSchema } from "../../protocol/control.js";
import { NO_SLOT } from "../../protocol/ops.js";
import type { Builder } from "../builder.js";
import { BUILD_INPUT_BYTES } from "../limits.js";
import type { StoredVersion } from "../stored-versions.js";
import {
  applyOp,
  lastDependents,
  type OpFailure,
  type PlannedRow,
  type PlanRules,
  planRows,
  type WriteOp,
} from "./write-plan.js";

export interface BuiltSegment {
  bytes: Uint8Array;
  /** The source of each row. */
  rows: PlannedRow[];
  /** The vectors that came with the documents, by row; null if none did. */
  pushed: Uint8Array | null;
}

export interface BuiltWrite {
  /** Ascending by seq. */
  segments: BuiltSegment[];
  /** By operation index. */
  failures: Map<number, OpFailure>;
  /** Indexes of operations without effect. */
  left: Set<number>;
}

/**
 * Builds the documents that the operations produce. If a document cannot be built, only its operation fails;
 * later operations on the same id are evaluated again without it.
 */
export async function buildWrite(
  ops: readonly WriteOp[],
  stored: ReadonlyMap<string, StoredVersion>,
  schema: ShardSchema,
  rules: PlanRules,
  builder: Builder,
): Promise<BuiltWrite> {
  const refused = new Map<number, OpFailure>();
  const dependents = lastDependents(ops);
  for (;;) {
    const { rows, failures, left } = await planRows(ops, stored, refused, rules);
    const segments: BuiltSegment[] = [];
    const bad = new Map<number, OpFailure>();
    for (const part of cut(rows)) {
      const built = await buildPart(part, ops, schema, builder, bad);
      if (built !== null) segments.push(built);
    }
    const misled = new Set<string>();
    for (const [op, failure] of bad) {
      const { id } = ops[op]!;
      refused.set(op, failure);
      if ((dependents.get(id) ?? -1) > op) misled.add(id);
    }
    if (misled.size === 0) return { segments, failures: new Map([...failures, ...bad]), left };
    await judgeInTurn(misled, refused, ops, stored, schema, rules, builder);
  }
}

/**
 * Finds exactly which operations on these ids produce bad documents. Builds each document alone, based on the
 * result of the preceding good operations. Records the bad operations in `refused`, so that the next plan for
 * these ids is final.
 */
async function judgeInTurn(
  ids: ReadonlySet<string>,
  refused: Map<number, OpFailure>,
  ops: readonly WriteOp[],
  stored: ReadonlyMap<string, StoredVersion>,
  schema: ShardSchema,
  rules: PlanRules,
  builder: Builder,
): Promise<void> {
  const current = new Map<string, Uint8Array | null>();
  for (const [i, op] of ops.entries()) {
    if (!ids.has(op.id)) continue;
    if (rules.slices.over) await rules.slices.next();
    refused.delete(i);
    const known = current.get(op.id);
    const before = known === undefined ? (stored.get(op.id)?.raw ?? null) : known;
    const after = applyOp(op, before, rules);
    if (after === before || (after !== null && "code" in after)) continue;
    if (after !== null) {
      await buildPart([{ op: i, raw: after }], ops, schema, builder, refused);
    }
    if (!refused.has(i)) current.set(op.id, after);
  }
}

/** Splits the rows into runs of at most BUILD_INPUT_BYTES. A larger row gets a run of its own. */
function cut(rows: readonly PlannedRow[]): PlannedRow[][] {
  const parts: PlannedRow[][] = [];
  let part: PlannedRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (part.length > 0 && bytes + row.raw.length > BUILD_INPUT_BYTES) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(row);
    bytes += row.raw.length;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/**
 * Builds one segment from the good documents; returns null if there are none. Adds the bad documents to
 * `bad`.
 */
async function buildPart(
  part: readonly PlannedRow[],
  ops: readonly WriteOp[],
  schema: ShardSchema,
  builder: Builder,
  bad: Map<number, OpFailure>,
): Promise<BuiltSegment | null> {
  const documents: BuildDocument[] = [];
  for (const { op, raw } of part) documents.push({ seq: ops[op]!.seq, raw });
  const { segment, failures, vectors } = await builder.build(schema, documents);
  for (const { index, code, slot, at } of failures) {
    bad.set(part[index]!.op, { code, slot: slot < 0 ? NO_SLOT : slot, at });
  }
  const rows: PlannedRow[] = [];
  for (const row of part) if (!bad.has(row.op)) rows.push(row);
  return segment === null ? null : { bytes: segment, rows, pushed: vectors };
}
