// The read channel keeps the process alive while a read may be waiting in it.

import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { ShardChannel } from "../../../../../server/fleet/threads/shard-channel.js";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";

/** Number of message ports that keep the event loop alive. */
const held = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "MessagePort").length;

test("a process waiting only for a read stays alive until the line is closed", async () => {
  const { port1, port2 } = new MessageChannel();
  const before = held();
  const line = new ShardChannel(port1);
  const read = line.ask(Uint8Array.of(1), 0, new RequestLife());
  expect(held()).toBe(before + 1);
  line.close(new Error("closed"));
  await expect(read).rejects.toThrow("closed");
  port2.close();
});
