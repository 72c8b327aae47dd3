// The shard's end of the line of reads: answers what comes together in a message one after the other and sends the
// answers together, but keeps none back for long behind a slow one.
import type { MessagePort } from "node:worker_threads";
import { discardBuffer } from "../engine-wasm/host/instance/discards.js";
import { Frames, readFrames } from "./protocol/line.js";

type Reply = Uint8Array;

/** How long an answer may wait for others to be sent with. */
const HELD_BACK_MS = 1;

/** `answer` must not throw and must not reject. */
export function answerLine(port: MessagePort, answer: (request: Uint8Array) => Reply | Promise<Reply>): void {
  const replies = new Frames();
  let sentMs = 0;
  const send = (): void => {
    sentMs = performance.now();
    if (replies.empty) return;
    const message = replies.take();
    port.postMessage(message, [message.buffer]);
  };
  const sendLater = (id: number, reply: Reply): void => {
    if (replies.empty) setImmediate(send);
    replies.add(id, reply);
  };
  port.on("message", (message: Uint8Array) => {
    sentMs = performance.now();
    readFrames(message, (id, request) => {
      const reply = answer(request);
      if (reply instanceof Promise) {
        void reply.then((late) => sendLater(id, late));
        return;
      }
      replies.add(id, reply);
      if (performance.now() - sentMs > HELD_BACK_MS) send();
    });
    send();
    discardBuffer(message.byteLength);
  });
}
