// Write requests that wait for their commit: which may share one, and how they are answered together.
import { SHARD_BAD_MESSAGE, SHARD_UNAVAILABLE, ShardError } from "../protocol/errors.js";
import type { DeleteWhereReply, ProgramRequest } from "../protocol/program.js";
import type { WriteReply, WriteRequest } from "../protocol/write.js";
import type { IndexState } from "./state.js";

interface Waiting<Request, Reply> {
  request: Request;
  bytes: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}
export type WaitingWrite = Waiting<WriteRequest, WriteReply> & { kind: "documents" };
export type WaitingDelete = Waiting<ProgramRequest, DeleteWhereReply> & { kind: "where" };

/** Runs the work of these requests; a failure fails those that are not settled yet. */
export async function settle(
  group: readonly { reject(error: unknown): void }[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

/** Refuses requests whose generation or seqs do not continue what is committed; the rest may share a commit. */
export function admit(
  state: IndexState,
  candidates: readonly WaitingWrite[],
): { group: WaitingWrite[]; generations: { generation: number; maxSeq: number }[] } {
  const group: WaitingWrite[] = [];
  const generations: { generation: number; maxSeq: number }[] = [];
  let last = { generation: state.generation, maxSeq: state.maxSeq };
  for (const waiting of candidates) {
    const { generation, documents } = waiting.request;
    const first = documents[0]?.seq ?? Number.MAX_SAFE_INTEGER;
    if (generation < last.generation) {
      waiting.reject(olderGeneration(state, generation));
    } else if (first <= last.maxSeq) {
      const message = `index ${state.uid}: seq ${first} after ${last.maxSeq}`;
      waiting.reject(new ShardError(SHARD_BAD_MESSAGE, message));
    } else {
      if (generation === generations.at(-1)?.generation) generations.pop();
      last = { generation, maxSeq: documents.at(-1)?.seq ?? last.maxSeq };
      generations.push(last);
      group.push(waiting);
    }
  }
  return { group, generations };
}

export function olderGeneration(state: IndexState, generation: number): ShardError {
  const message = `index ${state.uid}: write of generation ${generation} after ${state.generation}`;
  return new ShardError(SHARD_BAD_MESSAGE, message);
}

export function closing(state: IndexState): ShardError {
  return new ShardError(SHARD_UNAVAILABLE, `index ${state.uid} is closing`);
}
