// Writes to one index. Requests that arrive while a commit is being synced wait in a queue and share the next
// commit. Each request still has its own failures, and each generation its own snapshot.

import type { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import type { DeleteWhereReply, DeleteWhereRequest } from "../../protocol/program.js";
import type { UnseenRequest } from "../../protocol/unseen.js";
import type { UnreadWrite, WriteReply, WriteRequest } from "../../protocol/write.js";
import { hasInternalMembers } from "../../query/internal.js";
import type { DeadList } from "../../segments/dead-documents.js";
import { documentPuts, type NumberedDocument } from "../../segments/document-puts.js";
import { newVectors, type WrittenDocument } from "../../vectors/new-vectors.js";
import { COMMIT_INPUT_BYTES, WRITE_RESULT_BYTES_MAX } from "../limits.js";
import type { Slices } from "../slices.js";
import type { ShardIndexState } from "../state.js";
import { findVersions } from "../stored-versions.js";
import { matchingRows, unseenRows } from "./found-rows.js";
import { type BuiltSegment, buildWrite } from "./write-build.js";
import { commitWrite, type NewSegment } from "./write-commit.js";
import {
  admit,
  closing,
  doubtful,
  olderGeneration,
  settle,
  type WaitingDelete,
  type WaitingWrite,
} from "./write-group.js";
import { type DyingRow, type NewRow, resolveDeaths, type WriteOp } from "./write-plan.js";

/** The writer's dependencies, apart from the state. */
export interface WriterContext {
  lane: Lane;
  /** Resolves once there are few enough segments to add another. */
  room(): Promise<void>;
  slices: Slices;
  /** Called after each commit. */
  committed(): void;
}

export class Writer {
  readonly #state: ShardIndexState;
  readonly #context: WriterContext;
  readonly #queue: (WaitingWrite | WaitingDelete)[] = [];
  #queuedBytes = 0;
  #pumping = false;

  constructor(state: ShardIndexState, context: WriterContext) {
    this.#state = state;
    this.#context = context;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Resolves when the documents are durable and visible to reads of the request's generation. */
  write(request: UnreadWrite): Promise<WriteReply> {
    return new Promise((resolve, reject) => {
      this.#push({ kind: "documents", request, bytes: request.bytes, resolve, reject });
    });
  }

  /**
   * Returns which of the request's documents the write would add if it ran now, as positions in the request.
   * Stores nothing.
   */
  additions(request: WriteRequest): Promise<number[]> {
    return this.#context.lane.run(async () => {
      if (this.#state.closed) throw closing(this.#state);
      const { stored, built } = await this.#build(opsOf(request));
      return request.documents.flatMap(({ id, index }, i) =>
        stored.has(id) || built.failures.has(i) || built.left.has(i) ? [] : [index],
      );
    });
  }

  /** Deletes the rows that match the program, after all previously queued writes. */
  deleteWhere(request: DeleteWhereRequest): Promise<DeleteWhereReply> {
    return this.#delete(request, request.program.length, () => matchingRows(this.#state, request));
  }

  /** Deletes the documents that a feed did not contain, after all previously queued writes. */
  deleteUnseen(request: UnseenRequest): Promise<DeleteWhereReply> {
    return this.#delete(request, request.kept.bytes, () =>
      unseenRows(this.#state, request, this.#context.slices),
    );
  }

  /** Number of documents that `deleteUnseen` would delete if it ran now. */
  countUnseen(request: UnseenRequest): Promise<number> {
    return this.#context.lane.run(async () => {
      if (this.#state.closed) throw closing(this.#state);
      return (await unseenRows(this.#state, request, this.#context.slices)).length;
    });
  }

  /** Rejects all queued requests. */
  close(): void {
    for (const { reject } of this.#queue.splice(0)) reject(closing(this.#state));
    this.#queuedBytes = 0;
  }

  #delete(
    request: WaitingDelete["request"],
    bytes: number,
    find: WaitingDelete["find"],
  ): Promise<DeleteWhereReply> {
    return new Promise((resolve, reject) => {
      this.#push({ kind: "delete", request, bytes, find, resolve, reject });
    });
  }

  #push(waiting: WaitingWrite | WaitingDelete): void {
    if (this.#state.closed) {
      waiting.reject(closing(this.#state));
      return;
    }
    this.#queue.push(waiting);
    this.#queuedBytes += waiting.bytes;
    if (!this.#pumping) void this.#pump();
  }

  /** Never rejects; errors go to the affected requests. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#queue.length > 0) {
      await this.#context.room();
      await this.#context.lane.run(() => this.#commitNext());
    }
    this.#pumping = false;
  }

  async #commitNext(): Promise<void> {
    const first = this.#queue[0];
    if (first === undefined) return;
    if (first.kind === "delete") {
      this.#take(1);
      await settle([first], () => this.#commitDelete(first));
      return;
    }
    const group = this.#takeGroup();
    await settle(group, () => this.#write(group));
  }

  #take(count: number): void {
    for (const { bytes } of this.#queue.splice(0, count)) this.#queuedBytes -= bytes;
  }

  /** Removes the requests that may share a commit from the head of the queue. */
  #takeGroup(): WaitingWrite[] {
    const group: WaitingWrite[] = [];
    let bytes = 0;
    for (const waiting of this.#queue) {
      bytes += waiting.bytes;
      if (waiting.kind !== "documents" || (group.length > 0 && bytes > COMMIT_INPUT_BYTES)) break;
      group.push(waiting);
    }
    this.#take(group.length);
    return group;
  }

  async #write(candidates: readonly WaitingWrite[]): Promise<void> {
    const state = this.#state;
    const { slices } = this.#context;
    const { group, generations, inDoubt } = admit(state, candidates);
    if (group.length === 0) return;
    await slices.pause();
    const ops = group.flatMap(({ request }) => opsOf(request));
    const { stored, built } = await this.#build(ops);
    await slices.pause();
    const { born, dying, kept } = resolveDeaths(ops, stored, built);
    // If nothing changed, there is nothing to commit, and reads of these generations use the previous
    // snapshot.
    const recorded = ops.length === 0 || built.left.size < ops.length;
    if (recorded) {
      const documents = await this.#shownDocuments(built.segments, ops, born);
      const segments: NewSegment[] = [];
      for (const segment of built.segments) segments.push(await this.#newSegment(segment, ops, born));
      const change = {
        generations,
        inDoubt,
        oldestGeneration: group.at(-1)!.request.oldestGeneration,
        segments,
        dying,
        documents: documentPuts(state.uid, documents),
        dead: deadLists(ops, born, dying),
      };
      await commitWrite(state, change, slices);
      this.#context.committed();
    }
    let next = 0;
    for (const { request, resolve } of group) {
      const { liveDocs } = state;
      const reply: WriteReply = { recorded, failures: [], unchanged: 0, kept: [], liveDocs };
      for (const { index, raw } of request.documents) {
        const op = next++;
        const failure = built.failures.get(op);
        if (failure !== undefined) reply.failures.push({ index, ...failure });
        if (built.left.has(op) && raw.length > 0) reply.unchanged++;
        const seq = kept.get(op);
        if (seq !== undefined) reply.kept.push(seq);
      }
      resolve(reply);
    }
  }

  async #build(ops: readonly WriteOp[]) {
    const { home, schema } = this.#state;
    const { slices } = this.#context;
    const stored = await findVersions(this.#state, ops, slices);
    await slices.pause();
    const rules = {
      workbench: home.workbench(),
      documentBytesMax: home.documentBytesMax,
      resultBytesMax: WRITE_RESULT_BYTES_MAX,
      slices,
    };
    return { stored, built: await buildWrite(ops, stored, schema, rules, home.builder) };
  }

  /** Returns the new segments' documents that are visible in at least one generation. */
  async #shownDocuments(
    segments: readonly BuiltSegment[],
    ops: readonly WriteOp[],
    born: ReadonlyMap<number, NewRow>,
  ): Promise<NumberedDocument[]> {
    const { slices } = this.#context;
    const workbench = this.#state.home.workbench();
    const shown: NumberedDocument[] = [];
    for (const { op, raw } of segments.flatMap(({ rows }) => rows)) {
      const row = born.get(op)!;
      if (row.died <= row.born) continue;
      if (slices.over) await slices.next();
      const { seq, id } = ops[op]!;
      shown.push({ seq, id, raw, internal: hasInternalMembers(raw, workbench) });
    }
    return shown;
  }

  async #newSegment(
    { bytes, rows, pushed }: BuiltSegment,
    ops: readonly WriteOp[],
    born: ReadonlyMap<number, NewRow>,
  ): Promise<NewSegment> {
    const documents: WrittenDocument[] = [];
    const newRows: NewRow[] = [];
    for (const { op } of rows) {
      const row = born.get(op)!;
      const lives = row.died === Number.POSITIVE_INFINITY;
      documents.push({ seq: ops[op]!.seq, shown: row.born < row.died, lives });
      newRows.push(row);
    }
    const vectors = await newVectors(this.#state.vectors, bytes, documents, pushed, this.#context.slices);
    return { bytes, rows: newRows, vectors };
  }

  async #commitDelete({ request, find, resolve }: WaitingDelete): Promise<void> {
    const state = this.#state;
    const { generation, oldestGeneration } = request;
    if (generation < state.generation) throw olderGeneration(state, generation);
    state.doubt.learn(request.published);
    const { slices } = this.#context;
    const dying = await find();
    await slices.pause();
    const dead = deadLists([], new Map(), dying);
    await slices.pause();
    const change = {
      generations: [{ generation, maxSeq: state.maxSeq }],
      inDoubt: doubtful(request, state.maxSeq),
      oldestGeneration,
      segments: [],
      dying,
      documents: [],
      dead,
    };
    await commitWrite(state, change, slices);
    this.#context.committed();
    resolve({ deleted: dying.length, liveDocs: state.liveDocs });
  }
}

function opsOf({ action, generation, documents }: WriteRequest): WriteOp[] {
  const ops: WriteOp[] = [];
  for (const { seq, id, hash, raw } of documents) ops.push({ action, generation, seq, id, hash, raw });
  return ops;
}

/**
 * Returns the stored documents that die, by generation: older documents, and documents that another write in
 * the same commit replaces.
 */
function deadLists(
  ops: readonly WriteOp[],
  born: ReadonlyMap<number, NewRow>,
  dying: readonly DyingRow[],
): DeadList[] {
  const lists = new Map<number, number[]>();
  const add = (generation: number, seq: number): void => {
    const list = lists.get(generation);
    if (list === undefined) lists.set(generation, [seq]);
    else list.push(seq);
  };
  for (const { died, seq } of dying) add(died, seq);
  for (const { op, born: from, died } of born.values()) {
    if (from < died && died !== Number.POSITIVE_INFINITY) add(died, ops[op]!.seq);
  }
  return Array.from(lists, ([generation, seqs]) => ({ generation, seqs }));
}
