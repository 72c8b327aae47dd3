// Reads from the shards by sending messages to their threads. `#readOne` applies all of a read's safeguards,
// in order.
import type { ShardError } from "../../../shards/protocol/errors.js";
import { encodeFetch } from "../../../shards/protocol/fetch.js";
import { decodePageReply, encodePage } from "../../../shards/protocol/page.js";
import {
  decodeResult,
  encodeCompanyRequest,
  encodeExpandRequest,
  encodeExplainRequest,
  encodeNearestRequest,
  encodeSearchRequest,
  type ProgramRequest,
} from "../../../shards/protocol/program.js";
import { isRefusal, openReply } from "../../../shards/protocol/reply.js";
import { encodeEmbed, encodeSimilarities } from "../../../shards/protocol/vectors.js";
import type { Places } from "../../catalog/schema/placement.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import {
  type PageRead,
  type ProgramRead,
  type ShardRead,
  type ShardReader,
  subjectOfRead,
} from "../shard-reader.js";
import type { Isolation, Subject } from "../threads/isolation.js";
import { decodeReply, lateSearch } from "../threads/shard-errors.js";
import type { Message } from "../threads/shard-life.js";
import { LARGE_BYTES } from "../threads/tenant-slices.js";

/** This thread's channels to the shards' threads. */
export interface ShardChannels {
  /**
   * Sends the message together with the other reads of this turn of the event loop. Resolves with the reply.
   * Rejects if too many requests are waiting for the shard, if its thread ends, if the thread takes too long
   * to restart, or if `life` ends. The bytes must not change until the reply has arrived.
   */
  read(shard: number, message: Uint8Array, tenant: number, life: RequestLife): Promise<Uint8Array>;
}

export class ThreadReader implements ShardReader {
  readonly #channels: ShardChannels;
  readonly #isolation: Isolation;
  readonly #onDamage: (shard: number, error: ShardError) => void;

  constructor(
    channels: ShardChannels,
    isolation: Isolation,
    onDamage: (shard: number, error: ShardError) => void,
  ) {
    this.#channels = channels;
    this.#isolation = isolation;
    this.#onDamage = onDamage;
  }

  read<T>(read: ShardRead<T>, shards: Places): Promise<T>[] {
    const message = encoded(read);
    const subject = subjectOfRead(read);
    const answers: Promise<T>[] = [];
    for (const shard of shards) answers.push(this.#readOne(read, message, subject, shard));
    return answers;
  }

  async #readOne<T>(
    read: ShardRead<T>,
    message: Message,
    subject: Subject | undefined,
    shard: number,
  ): Promise<T> {
    const { of } = read;
    // Quarantine: a suspect read is sent on its own; a read that was in flight on two occasions when the
    // thread ended is refused.
    let apart = false;
    if (subject !== undefined) {
      const entered = this.#isolation.enter(shard, subject);
      apart = entered instanceof Promise ? await entered : entered;
    }
    let reply: Uint8Array;
    let failure: unknown = null;
    try {
      // Shard queue: refuses the read if the queue is full; otherwise the read waits while the thread
      // restarts.
      reply = await (apart
        ? this.#isolation.sendApart(shard, message, of.tenant, subject as Subject)
        : this.#channels.read(shard, message, of.tenant, of.life));
      // Refusals become SkeinErrors, and damage is reported.
      if (isRefusal(reply)) decodeReply(reply, openReply, (error) => this.#onDamage(shard, error));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      if (subject !== undefined) this.#isolation.leave(shard, subject, apart, failure);
    }
    // A request that is over by now needs no result.
    of.life.check();
    // Time slices: a large reply is decoded in the tenant's next slice.
    if (reply.length > LARGE_BYTES) await of.slices.next();
    // Deadline: decoding late replies would delay searches that can still meet theirs.
    if ("deadline" in read && Date.now() > read.deadline) throw lateSearch();
    return decoded(read, reply);
  }
}

function encoded<T>(read: ShardRead<T>): Message {
  switch (read.kind) {
    case "search":
      return encodeSearchRequest(requestOf(read));
    case "page": {
      const { offset, count, options } = read.wanted();
      return encodePage({ ...requestOf(read), offset, count, options });
    }
    case "expand":
      return encodeExpandRequest(requestOf(read));
    case "company":
      return encodeCompanyRequest(requestOf(read));
    case "explain":
      return encodeExplainRequest(requestOf(read));
    case "nearest":
      return encodeNearestRequest(requestOf(read));
    case "fetch":
      return encodeFetch({ uid: read.of.data, seqs: [...read.seqs], ...read.options });
    case "embed":
      return encodeEmbed({ uid: read.of.data, terms: read.terms, seqs: read.seqs });
    case "similarities":
      return encodeSimilarities({ uid: read.of.data, query: read.query, seqs: read.seqs });
    case "message":
      return read.message;
  }
}

function requestOf<T>({ of, program, deadline }: ProgramRead<T> | PageRead<T>): ProgramRequest {
  const { data: uid, generation, oldestGeneration } = of;
  return { uid, generation, oldestGeneration, deadline, program };
}

function decoded<T>(read: ShardRead<T>, reply: Uint8Array): T | Promise<T> {
  switch (read.kind) {
    case "page": {
      const { result, documents } = decodePageReply(reply);
      return read.decode(result, documents);
    }
    case "fetch":
    case "embed":
    case "similarities":
    case "message":
      return read.decode(reply);
    default:
      return read.decode(decodeResult(reply));
  }
}
