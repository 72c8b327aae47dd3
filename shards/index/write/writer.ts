// The write side of one index: a queue. Everything that waits while a batch is being synced goes into the next
// commit together, yet every request keeps its own failures, and its generation its own snapshot.
import { ALL_ROWS } from "../../../engine-wasm/host/programs/search-program.js";
import { seqsOfResult } from "../../../engine-wasm/host/programs/search-result.js";
import type { DeleteWhereReply, ProgramRequest } from "../../protocol/program.js";
import type { UnreadWrite, WriteFailure, WriteReply, WriteRequest } from "../../protocol/write.js";
import { hasInternalMembers } from "../../query/internal.js";
import type { DeadList } from "../../segments/dead-documents.js";
import { documentPuts, type NumberedDocument } from "../../segments/document-puts.js";
import type { Lane } from "../lane.js";
import { COMMIT_INPUT_BYTES, WRITE_RESULT_BYTES_MAX } from "../limits.js";
import type { ShardIndexState } from "../state.js";
import { findVersions } from "../stored-versions.js";
import type { Turns } from "../turns.js";
import { type BuiltSegment, buildWrite } from "./write-build.js";
import { commitWrite, type NewSegment } from "./write-commit.js";
import {
  admit,
  closing,
  olderGeneration,
  settle,
  type WaitingDelete,
  type WaitingWrite,
} from "./write-group.js";
import { type DyingRow, type NewRow, resolveDeaths, type WriteOp } from "./write-plan.js";

/** What the writer needs of its index beside the state. */
export interface WriterContext {
  lane: Lane;
  /** Resolves when there are few enough segments to add one. */
  room(): Promise<void>;
  turns: Turns;
  /** Something was committed. */
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

  /** Positions of the documents that the request would add, were it written now; nothing of it is kept. */
  additions(request: WriteRequest): Promise<number[]> {
    return this.#context.lane.run(async () => {
      if (this.#state.closed) throw closing(this.#state);
      const { stored, built } = await this.#build(opsOf(request));
      return request.documents.flatMap(({ id, index }, i) =>
        stored.has(id) || built.failures.has(i) ? [] : [index],
      );
    });
  }

  /** Deletes what the program finds after all writes queued before. */
  deleteWhere(request: ProgramRequest): Promise<DeleteWhereReply> {
    return new Promise((resolve, reject) => {
      this.#push({ kind: "where", request, bytes: request.program.length, resolve, reject });
    });
  }

  /** Refuses what has not begun. */
  close(): void {
    for (const { reject } of this.#queue.splice(0)) reject(closing(this.#state));
    this.#queuedBytes = 0;
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

  /** Never rejects: whatever goes wrong is handed to the requests concerned. */
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
    if (first.kind === "where") {
      this.#take(1);
      await settle([first], () => this.#deleteWhere(first));
      return;
    }
    const group = this.#takeGroup();
    await settle(group, () => this.#write(group));
  }

  #take(count: number): void {
    for (const { bytes } of this.#queue.splice(0, count)) this.#queuedBytes -= bytes;
  }

  /** The requests at the head of the queue that may share a commit. */
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
    const { turns } = this.#context;
    const { group, generations } = admit(state, candidates);
    if (group.length === 0) return;
    await turns.pause();
    const ops = group.flatMap(({ request }) => opsOf(request));
    const { stored, built } = await this.#build(ops);
    await turns.pause();
    const { born, dying } = resolveDeaths(ops, stored, built.failures);
    const documents = await this.#shownDocuments(built.segments, ops, born);
    const segments = built.segments.map((segment) => newSegment(segment, born));
    const change = {
      generations,
      oldestGeneration: group.at(-1)!.request.oldestGeneration,
      segments,
      dying,
      documents: documentPuts(state.uid, documents),
      dead: deadLists(ops, born, dying),
    };
    await commitWrite(state, change, turns);
    this.#context.committed();
    let first = 0;
    for (const { request, resolve } of group) {
      const failures: WriteFailure[] = [];
      for (const [i, { index }] of request.documents.entries()) {
        const failure = built.failures.get(first + i);
        if (failure !== undefined) failures.push({ index, ...failure });
      }
      first += request.documents.length;
      resolve({ failures, liveDocs: state.liveDocs });
    }
  }

  async #build(ops: readonly WriteOp[]) {
    const { home, schema } = this.#state;
    const { turns } = this.#context;
    const stored = await findVersions(this.#state, ops);
    await turns.pause();
    const rules = {
      workbench: home.workbench(),
      documentBytesMax: home.documentBytesMax,
      resultBytesMax: WRITE_RESULT_BYTES_MAX,
      turns,
    };
    return { stored, built: await buildWrite(ops, stored, schema, rules, home.builder) };
  }

  /** The documents of new segments that some generation shows. */
  async #shownDocuments(
    segments: readonly BuiltSegment[],
    ops: readonly WriteOp[],
    born: ReadonlyMap<number, NewRow>,
  ): Promise<NumberedDocument[]> {
    const { turns } = this.#context;
    const workbench = this.#state.home.workbench();
    const shown: NumberedDocument[] = [];
    for (const { op, raw } of segments.flatMap(({ rows }) => rows)) {
      const row = born.get(op)!;
      if (row.died <= row.born) continue;
      if (turns.over) await turns.next();
      const { seq, id } = ops[op]!;
      shown.push({ seq, id, raw, internal: hasInternalMembers(raw, workbench) });
    }
    return shown;
  }

  async #deleteWhere({ request, resolve }: WaitingDelete): Promise<void> {
    const state = this.#state;
    const { generation, oldestGeneration } = request;
    if (generation < state.generation) throw olderGeneration(state, generation);
    const snapshot = state.snapshots.newest;
    const seqs = seqsOfResult(state.engine.search(snapshot.address, request.program), 0, ALL_ROWS);
    const dying: DyingRow[] = [];
    for (const [i, { entry, row }] of state.engine.locate(snapshot.address, seqs).entries()) {
      if (entry >= 0) dying.push({ entry, row, seq: seqs[i]!, died: generation });
    }
    await commitWrite(state, {
      generations: [{ generation, maxSeq: state.maxSeq }],
      oldestGeneration,
      segments: [],
      dying,
      documents: [],
      dead: deadLists([], new Map(), dying),
    });
    this.#context.committed();
    resolve({ deleted: dying.length, liveDocs: state.liveDocs });
  }
}

function opsOf({ action, generation, documents }: WriteRequest): WriteOp[] {
  return documents.map(({ seq, id, hash, raw }) => ({ action, generation, seq, id, hash, raw }));
}

function newSegment({ bytes, rows }: BuiltSegment, born: ReadonlyMap<number, NewRow>): NewSegment {
  return { bytes, rows: rows.map(({ op }) => born.get(op)!) };
}

/** Stored documents that die, by generation: older ones and those that another write of the commit replaces. */
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
