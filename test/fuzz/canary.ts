// A guarded engine instance. A kernel's inputs lie between guard regions filled with one byte, and all other
// memory that does not belong to the kernel contains that byte too. After any call, the regions must be
// unchanged. Two instances that differ only in the guard byte must give the same answers; otherwise a kernel
// has read memory that does not belong to it.
import { Buffer } from "node:buffer";
import { STATUS_BAD_PROGRAM, STATUS_DAMAGED } from "../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../engine-wasm/host/engine-error.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { Kernels } from "../../engine-wasm/host/wasm/kernels.js";
import type { EngineInstance } from "../../engine-wasm/host/wasm/memory.js";
import { finding } from "./target.js";

const GUARD_BYTES = 1024;
const GUARDS = [0x00, 0xa5] as const;
const DOCUMENTED = [STATUS_BAD_PROGRAM, STATUS_DAMAGED];
const LOWEST_STATUS = -256;
const ARENA_HEADER_BYTES = 16;
/**
 * Instances larger than this are replaced, because filling their memory with the guard byte takes too long.
 */
const MEMORY_BYTES_MAX = 24 * 1024 * 1024;

/** A kernel's answer: its negative status, or the bytes of its result. */
export type Answer = number | Uint8Array;
type Call = (kernels: Kernels, p: number, bytes: number) => number;
/**
 * Places regions in a new instance. Returns whatever the kernel calls need, such as the regions' addresses.
 */
type Furnish<T> = (place: (bytes: Uint8Array, room?: number) => number, instance: EngineInstance) => T;

export class Guarded<T> {
  readonly instance: EngineInstance;
  readonly held: T;
  #start = 0;
  #kept: Buffer = Buffer.alloc(0);

  constructor(
    module: EngineModule,
    furnish: Furnish<T>,
    private readonly guard: number,
  ) {
    this.instance = module.instantiate();
    const wall = new Uint8Array(GUARD_BYTES).fill(guard);
    this.#start = this.instance.region(wall) - ARENA_HEADER_BYTES;
    const place = (bytes: Uint8Array, room = (bytes.length + 15) & ~15): number => {
      const padded = new Uint8Array(room).fill(guard);
      padded.set(bytes);
      const address = this.instance.region(padded);
      this.instance.region(wall);
      return address;
    };
    this.held = furnish(place, this.instance);
    this.keep();
  }

  get #end(): number {
    return this.#start + this.instance.run((kernels) => kernels.regionBytes());
  }

  /** Records the current contents of the regions as correct. */
  keep(): void {
    this.#kept = Buffer.from(this.instance.view().subarray(this.#start, this.#end));
  }

  /** Overwrites a placed region and fills the rest of its room with guard bytes. */
  overwrite(address: number, bytes: Uint8Array, room: number): void {
    this.instance
      .view()
      .fill(this.guard, address, address + room)
      .set(bytes, address);
    this.keep();
  }

  /** Writes a kernel's input to scratch memory, followed only by guard bytes. Returns its address. */
  input(bytes: Uint8Array): number {
    const p = this.instance.input(bytes);
    this.instance.view().fill(this.guard, p + bytes.length);
    return p;
  }

  /** Calls a kernel once and returns its answer. Throws if the kernel wrote outside its memory. */
  ask(call: Call, input: Uint8Array): Answer {
    const p = this.input(input);
    const answer = this.instance.run((kernels) => call(kernels, p, input.length));
    this.checkRegions();
    return this.read(answer);
  }

  read(answer: number): Answer {
    if (answer >= 0 || answer < LOWEST_STATUS) return this.instance.result(answer);
    if (!DOCUMENTED.includes(-answer)) finding(`a kernel answered with the unknown status ${answer}`);
    return answer;
  }

  /** Throws if a kernel has changed memory that does not belong to it. */
  checkRegions(): void {
    if (this.#end - this.#start !== this.#kept.length) finding("a kernel did not give back its regions");
    const now = this.instance.view().subarray(this.#start, this.#start + this.#kept.length);
    if (this.#kept.equals(now)) return;
    const at = now.findIndex((byte, i) => byte !== this.#kept[i]);
    finding(`a kernel wrote outside its memory, ${at} bytes behind the first region`);
  }
}

/** Two guarded instances with different guard bytes and the same contents. */
export class Canary<T> {
  #pair: Guarded<T>[] = [];

  constructor(
    private readonly module: EngineModule,
    private readonly furnish: Furnish<T>,
  ) {}

  /** Returns the instances. Recreates both if one of them has trapped or is larger than MEMORY_BYTES_MAX. */
  pair(): readonly Guarded<T>[] {
    const fit = ({ instance }: Guarded<T>) => instance.usable && instance.memoryBytes() <= MEMORY_BYTES_MAX;
    if (this.#pair.length === 0 || !this.#pair.every(fit)) {
      this.#pair = GUARDS.map((guard) => new Guarded(this.module, this.furnish, guard));
    }
    return this.#pair;
  }

  /**
   * Runs `work` on both instances, which must give the same answer, and returns that answer. A trap counts as
   * a finding.
   */
  both(what: string, work: (guarded: Guarded<T>) => Answer): Answer {
    try {
      const [one, other] = this.pair().map(work) as [Answer, Answer];
      if (!same(one, other)) finding(`${what}: the answer depends on bytes outside the input`);
      return one;
    } catch (error) {
      this.#pair = [];
      if (error instanceof EngineError) finding(`${what}: ${error.code}: ${error.message}`);
      throw error;
    }
  }

  /** Calls a kernel once in each instance. The answers must be equal. */
  ask(
    what: string,
    call: (kernels: Kernels, p: number, bytes: number, held: T) => number,
    input: Uint8Array,
  ): Answer {
    return this.both(what, (guarded) =>
      guarded.ask((kernels, p, bytes) => call(kernels, p, bytes, guarded.held), input),
    );
  }
}

function same(one: Answer, other: Answer): boolean {
  if (typeof one === "number" || typeof other === "number") return one === other;
  return Buffer.from(one.buffer, one.byteOffset, one.length).equals(other);
}
