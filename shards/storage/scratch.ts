// A buffer for values that are built one at a time. Building a value overwrites the previous one.

import { keepShape } from "../../engine-wasm/host/runtime/kept-shapes.js";

export class Scratch {
  #bytes = Buffer.alloc(0);

  /** Returns `bytes` bytes with arbitrary contents. Bytes returned earlier must not be used afterwards. */
  room(bytes: number): Buffer {
    if (this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes.subarray(0, bytes);
  }
}

keepShape(new Scratch());
