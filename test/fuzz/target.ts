// The interface that every fuzzing target implements, and mutations that targets share. Knows nothing about
// particular targets.
import type { Random } from "../../bench/random.js";

export interface Target {
  readonly name: string;
  /** Must return the same input for the same random numbers. */
  generate(random: Random): Uint8Array;
  /** Throws if the product does something wrong with this input. */
  check(input: Uint8Array): void | Promise<void>;
  /** Number of cases in `npm test`, if it differs from the default. */
  readonly casesInTests?: number;
  /** Called at the end of a long run; returns its report. Throws if something has gone wrong by then. */
  report?(): Promise<string>;
  close(): Promise<void>;
}

/** Throws an error for a fault of the kind that fuzzing looks for. */
export function finding(what: string): never {
  throw new Error(what);
}

const INTERESTING = [0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x20, 0x22, 0x5c];
const INTERESTING_WORDS = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x10000, 0xffff, 8, 4096];

/** A copy with a few bytes or u32 values between `from` and `to` changed, removed, doubled or cut off. */
export function mutateBytes(random: Random, bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array {
  let out = Buffer.from(bytes);
  for (let n = random.pick([1, 1, 1, 2, 3, 6]); n > 0; n--) {
    const end = Math.min(to, out.length);
    if (end <= from) break;
    const at = random.from(from, end - 1);
    const kind = random.below(14);
    if (kind < 4) out[at] = out[at]! ^ (1 << random.below(8));
    else if (kind < 6) out[at] = random.pick(INTERESTING);
    else if (kind < 7) out[at] = random.below(256);
    else if (kind < 11 && at + 4 <= out.length) {
      const aligned = at & ~3;
      const old = out.readUInt32LE(aligned);
      const near = (old + random.from(-9, 9)) >>> 0;
      out.writeUInt32LE(random.pick([near, near, ...INTERESTING_WORDS]), aligned);
    } else if (kind < 12) {
      out = Buffer.concat([out.subarray(0, at), out.subarray(at + random.from(1, 8))]);
    } else if (kind < 13) {
      out = Buffer.concat([out.subarray(0, at), out.subarray(Math.max(0, at - random.from(1, 8)))]);
    } else if (random.below(4) === 0) out = out.subarray(0, at);
  }
  return new Uint8Array(out);
}

/** A copy with characters from the alphabet inserted, and pieces removed, doubled or moved. */
export function mutateText(random: Random, text: string, alphabet: readonly string[]): string {
  let out = text;
  for (let n = random.pick([0, 1, 1, 2, 4]); n > 0; n--) {
    const at = random.below(out.length + 1);
    const length = random.from(1, 6);
    const kind = random.below(5);
    const piece = out.slice(at, at + length);
    if (kind < 2) out = out.slice(0, at) + random.pick(alphabet) + out.slice(at);
    else if (kind === 2) out = out.slice(0, at) + out.slice(at + length);
    else if (kind === 3) out = out.slice(0, at) + piece + out.slice(at);
    else out = out.slice(0, at) + out.slice(at + length) + piece;
  }
  return out;
}
