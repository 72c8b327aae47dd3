// Reads of one turn share a message; nobody notices but the thread.
import { expect, it } from "vitest";
import { ReadBatcher } from "../../../server/coordinator/read-batcher.js";
import type { Message } from "../../../server/coordinator/shard-pool.js";
import { ByteReader } from "../../../shards/protocol/bytes.js";
import { Op } from "../../../shards/protocol/ops.js";
import { decodeTogether, encodeTogetherReply } from "../../../shards/protocol/together.js";

const read = (n: number): Message => new Uint8Array([Op.SEARCH, n]);

/** Answers every read with its own bytes and notes how many came in each message. */
function echo(sizes: number[]) {
  return async (request: Message): Promise<Uint8Array> => {
    if (request[0] !== Op.TOGETHER) {
      sizes.push(1);
      return request;
    }
    const reader = new ByteReader(request);
    reader.u8();
    const parts = decodeTogether(reader);
    sizes.push(parts.length);
    return encodeTogetherReply(parts);
  };
}

it("answers each read with its own reply, at most eight to a message", async () => {
  const sizes: number[] = [];
  const batcher = new ReadBatcher(echo(sizes));
  const replies = await Promise.all(Array.from({ length: 19 }, (_, i) => batcher.ask(read(i))));
  expect(replies.map((reply) => reply[1])).toEqual(Array.from({ length: 19 }, (_, i) => i));
  expect((await batcher.ask(read(77)))[1]).toBe(77);
  expect(sizes).toEqual([8, 8, 3, 1]);
});

it("fails every read of a message that fails", async () => {
  const batcher = new ReadBatcher(async () => {
    throw new Error("gone");
  });
  const results = await Promise.allSettled([batcher.ask(read(1)), batcher.ask(read(2))]);
  expect(results.map((result) => result.status)).toEqual(["rejected", "rejected"]);
});
