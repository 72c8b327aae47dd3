// One buffer for values that are made one after the other. Making a value overwrites the one before it.

import { keepShape } from "../../engine-wasm/host/runtime/kept-shapes.js";

export class Scratch {
  #bytes = Buffer.alloc(0);

  /** Gives so many bytes with arbitrary contents. The bytes that were given before must not be used any more. */
  room(bytes: number): Buffer {
    if (this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes.subarray(0, bytes);
  }
}

keepShape(new Scratch());
