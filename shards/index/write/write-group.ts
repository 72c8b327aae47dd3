// Groups the write requests that are waiting for their commit: decides which of them may share a commit. If a
// commit fails, all of its requests fail.
import { SHARD_BAD_MESSAGE, SHARD_UNAVAILABLE, ShardError } from "../../protocol/errors.js";
import type { DeleteWhereReply } from "../../protocol/program.js";
import type { UnreadWrite, WriteReply, WriteRequest } from "../../protocol/write.js";
import type { WriteHead } from "../../protocol/write-head.js";
import type { DoubtfulWrite } from "../../segments/manifest.js";
import type { ShardIndexState } from "../state.js";
import type { DyingRow } from "./write-plan.js";

interface Waiting<Request, Reply> {
  request: Request;
  bytes: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}
export type WaitingWrite = Waiting<UnreadWrite, WriteReply> & { kind: "documents" };
type ReadWrite = Waiting<WriteRequest, WriteReply>;
/** `find` returns the rows to delete. It is called once all earlier writes are committed. */
export type WaitingDelete = Waiting<WriteHead, DeleteWhereReply> & {
  kind: "delete";
  find(): DyingRow[] | Promise<DyingRow[]>;
};

/** Runs the requests' shared work. If it fails, every request that has not settled yet fails too. */
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

/**
 * Decodes the requests. Refuses a request if it is malformed, if its generation is older than the previous
 * request's, or if its seqs are not larger than all earlier seqs. The remaining requests may share a commit;
 * `inDoubt` are those that other shards write too.
 */
export function admit(
  state: ShardIndexState,
  candidates: readonly WaitingWrite[],
): { group: ReadWrite[]; generations: { generation: number; maxSeq: number }[]; inDoubt: DoubtfulWrite[] } {
  const group: ReadWrite[] = [];
  const inDoubt: DoubtfulWrite[] = [];
  const generations: { generation: number; maxSeq: number }[] = [];
  let last = { generation: state.generation, maxSeq: state.maxSeq };
  for (const waiting of candidates) {
    try {
      const request = waiting.request.read();
      checkOrder(state, request, last);
      const { generation, documents } = request;
      state.doubt.learn(request.published);
      if (generation !== inDoubt.at(-1)?.generation) inDoubt.push(...doubtful(request, last.maxSeq));
      if (generation === generations.at(-1)?.generation) generations.pop();
      last = { generation, maxSeq: documents.at(-1)?.seq ?? last.maxSeq };
      generations.push(last);
      group.push({ ...waiting, request });
    } catch (error) {
      waiting.reject(error);
    }
  }
  return { group, generations, inDoubt };
}

/** The write, if it is one of several shards: until all of them have it, it may be taken back. */
export function doubtful({ generation, shards }: WriteHead, maxSeqBefore: number): DoubtfulWrite[] {
  return shards > 1 ? [{ generation, shards, maxSeqBefore }] : [];
}

function checkOrder(
  state: ShardIndexState,
  { generation, documents }: WriteRequest,
  last: { generation: number; maxSeq: number },
): void {
  if (generation < last.generation) throw olderGeneration(state, generation);
  const first = documents[0]?.seq ?? Number.MAX_SAFE_INTEGER;
  if (first > last.maxSeq) return;
  throw new ShardError(SHARD_BAD_MESSAGE, `index ${state.uid}: seq ${first} after ${last.maxSeq}`);
}

export function olderGeneration(state: ShardIndexState, generation: number): ShardError {
  const message = `index ${state.uid}: write of generation ${generation} after ${state.generation}`;
  return new ShardError(SHARD_BAD_MESSAGE, message);
}

export function closing(state: ShardIndexState): ShardError {
  return new ShardError(SHARD_UNAVAILABLE, `index ${state.uid} is closing`);
}
