// A body's frame: its bytes without the holes (see BodyScan). Bodies with equal frames differ only in the
// values of their holes.
import type { BodyScan } from "./body-scan.js";

export class BodyFrame {
  readonly bytes: Uint8Array;
  /** For each hole, which one it is, and its position in the frame. */
  readonly #cuts: readonly number[];

  constructor({ bytes, holes }: BodyScan) {
    const frame = new Uint8Array(bytes.length);
    const cuts: number[] = [];
    let length = 0;
    let at = 0;
    for (let i = 0; i < holes.length; i += 3) {
      const start = holes[i + 1]!;
      frame.set(bytes.subarray(at, start), length);
      length += start - at;
      at = holes[i + 2]!;
      cuts.push(holes[i]!, length);
    }
    frame.set(bytes.subarray(at), length);
    this.bytes = frame.slice(0, length + bytes.length - at);
    this.#cuts = cuts;
  }

  /** True if this is also the frame of the other body. */
  fits({ bytes, holes }: BodyScan): boolean {
    const [frame, cuts] = [this.bytes, this.#cuts];
    if (holes.length * 2 !== cuts.length * 3) return false;
    let at = 0;
    let i = 0;
    for (let cut = 0; cut < cuts.length; cut += 2) {
      const hole = (cut / 2) * 3;
      const start = holes[hole + 1]!;
      if (holes[hole] !== cuts[cut] || start - at !== cuts[cut + 1]! - i) return false;
      while (at < start) if (bytes[at++] !== frame[i++]) return false;
      at = holes[hole + 2]!;
    }
    if (bytes.length - at !== frame.length - i) return false;
    while (at < bytes.length) if (bytes[at++] !== frame[i++]) return false;
    return true;
  }
}
