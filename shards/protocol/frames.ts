// The read channel is a MessagePort between a thread of the server and a shard's thread. It lasts until the
// shard's thread ends; the next one gets a new channel. A message is a sequence of frames; those that become
// ready in the same turn of the event loop normally share one, because a thread hop costs more than a small
// read. Each read has its own reply, and replies may arrive in any order.
//   message  frames x {u32 id, u32 flow, u32 + request or reply}
// The requester chooses the id, and the reply echoes it. The flow is the tenant to whom the read's time on
// the thread is charged (fair-queue.ts); it is 0 in replies. An empty request cancels the read with its id,
// which is then refused unless its reply is on its way.
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";

const FRAME_HEAD_BYTES = 12;
const LITTLE_ENDIAN = true;

/** The request that cancels a read. */
export const CANCEL = new Uint8Array(0);

/** Frames that will be sent in one message. */
export class Frames {
  readonly #ids: number[] = [];
  readonly #flows: number[] = [];
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** `part` must not change until `take`, which copies it. */
  add(id: number, part: Uint8Array, flow = 0): void {
    this.#ids.push(id);
    this.#flows.push(flow);
    this.#parts.push(part);
    this.#bytes += FRAME_HEAD_BYTES + part.length;
  }

  /** Removes all frames and returns them as one message. */
  take(): Uint8Array<ArrayBuffer> {
    const message = new Uint8Array(Buffer.allocUnsafeSlow(this.#bytes).buffer);
    const heads = new DataView(message.buffer);
    let at = 0;
    for (let i = 0; i < this.#parts.length; i++) {
      const part = this.#parts[i] as Uint8Array;
      heads.setUint32(at, this.#ids[i] as number, LITTLE_ENDIAN);
      heads.setUint32(at + 4, this.#flows[i] as number, LITTLE_ENDIAN);
      heads.setUint32(at + 8, part.length, LITTLE_ENDIAN);
      message.set(part, at + FRAME_HEAD_BYTES);
      at += FRAME_HEAD_BYTES + part.length;
    }
    this.#ids.length = 0;
    this.#flows.length = 0;
    this.#parts.length = 0;
    this.#bytes = 0;
    return message;
  }
}

/** Passes each frame to `take` as a view into the message. Throws ShardError if the message is truncated. */
export function readFrames(
  message: Uint8Array,
  take: (id: number, part: Uint8Array, flow: number) => void,
): void {
  const heads = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  while (at < message.length) {
    if (message.length - at < FRAME_HEAD_BYTES) throw cutShort(at);
    const id = heads.getUint32(at, LITTLE_ENDIAN);
    const flow = heads.getUint32(at + 4, LITTLE_ENDIAN);
    const length = heads.getUint32(at + 8, LITTLE_ENDIAN);
    at += FRAME_HEAD_BYTES;
    if (length > message.length - at) throw cutShort(at);
    take(id, message.subarray(at, at + length), flow);
    at += length;
  }
}

function cutShort(at: number): ShardError {
  return new ShardError(SHARD_BAD_MESSAGE, `a message of frames ends within the one at byte ${at}`);
}
