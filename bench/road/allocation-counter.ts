// Counts the bytes that a server's threads allocate in V8's heaps. Reads the output of --trace-gc and adds up
// how much each heap grows between the end of one collection and the start of the next.

export const TRACE_FLAG = "--trace-gc";
const COLLECTION = /^\[\d+:(0x[0-9a-f]+)\].* ms: [^(]*?([\d.]+) \([\d.]+\) -> ([\d.]+) /;
const MIB = 2 ** 20;

export class AllocationCounter {
  /** Each heap's size in MiB after its last collection. */
  readonly #after = new Map<string, number>();
  #mib = 0;

  get bytes(): number {
    return this.#mib * MIB;
  }

  /** Ignores unrelated lines. */
  read(line: string): void {
    const found = COLLECTION.exec(line);
    if (found === null) return;
    const [, heap, before, after] = found;
    const last = this.#after.get(heap!);
    if (last !== undefined) this.#mib += Math.max(0, Number(before) - last);
    this.#after.set(heap!, Number(after));
  }
}
