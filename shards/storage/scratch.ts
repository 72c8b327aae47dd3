// Room for values that are made one after the other, each gone when the next is made.

export class Scratch {
  #bytes = Buffer.alloc(0);

  /** So many bytes, of any contents. Ends what was given before. */
  readonly room = (bytes: number): Buffer => {
    if (this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes.subarray(0, bytes);
  };
}
