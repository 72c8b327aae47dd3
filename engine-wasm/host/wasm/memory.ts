// One WebAssembly instance and its linear memory: the only place that makes views over it. A view is good until
// the next kernel call, since memory may grow; whatever must last is copied out. After a trap the memory's
// contents are unknown, so the instance refuses all further work.
//
// The memory is of the shared kind. Other threads may have instances with the same memory, which read beside its owner
// (instance/engine-reader.ts). V8 counts each growth of an ordinary memory as as many new bytes as the whole memory has, and so would
// mark and sweep the heap after every few batches of documents.
import { EngineError, statusError } from "../engine-error.js";
import { stem } from "../stemmer.js";
import { brokenAssertion } from "./assertion.js";
import { type Kernels, kernelsOf } from "./kernels.js";

const MEMORY_PAGES = 2; // asconfig.json: initialMemory
const MEMORY_PAGES_MAX = 65536; // asconfig.json: maximumMemory
const PAGE_BYTES = 65536;
const LOWEST_STATUS = -256; // an answer from here to -1 is a status, everything else an address

/** Kernels that answer a program on a snapshot. */
export type SnapshotQuestion = "expand" | "search" | "explain" | "company" | "nearest";

/** How long kernels may still work; they take from it. */
export interface WorkLeft {
  leftMs: number;
}

const UNLIMITED: WorkLeft = { leftMs: Number.POSITIVE_INFINITY };

export class EngineInstance {
  readonly memory: WebAssembly.Memory;
  readonly #kernels: Kernels;
  #view: Buffer;
  #trapped = false;
  readonly #meanwhile: () => void;
  /** Date.now() after which the running kernel is to end. */
  #deadline = Number.POSITIVE_INFINITY;
  /** Date.now() of the last pause of the running kernel; never while none runs that looks at the time. */
  #lookMs = Number.POSITIVE_INFINITY;
  /** What the running kernel may still work. */
  #work = UNLIMITED;

  /**
   * Instantiates synchronously; small modules and worker threads may do so. Kernels that look at the time call `meanwhile` about
   * every millisecond; it must leave this instance alone and must not throw.
   */
  constructor(
    module: WebAssembly.Module,
    memory: WebAssembly.Memory,
    meanwhile: () => void = () => undefined,
  ) {
    this.memory = memory;
    this.#meanwhile = meanwhile;
    const imports = {
      memory,
      parseNumber: (p: number, bytes: number) =>
        Number(this.view().toString("latin1", p >>> 0, (p >>> 0) + bytes)),
      stemTerm: (language: number, p: number, bytes: number, out: number, room: number) => {
        const view = this.view();
        const stemmed = stem(language, view.toString("utf8", p >>> 0, (p >>> 0) + bytes));
        return Buffer.byteLength(stemmed) > room ? 0 : view.write(stemmed, out >>> 0);
      },
      outOfMemory: () => {
        throw new EngineError("memory", "The engine's memory is full");
      },
      checkDeadline: (): undefined => this.#checkDeadline(),
      abort: (text: number, file: number, line: number): undefined =>
        brokenAssertion(this.view(), text >>> 0, file >>> 0, line),
    };
    this.#kernels = kernelsOf(new WebAssembly.Instance(module, { env: imports }).exports);
    this.#view = Buffer.from(this.memory.buffer);
  }

  /** False once a kernel has trapped. */
  get usable(): boolean {
    return !this.#trapped;
  }

  /** How much of the linear memory was ever in use. It never shrinks, and the system gives room for no more. */
  memoryBytes(): number {
    return this.#trapped ? this.memory.buffer.byteLength : this.#kernels.reachedBytes() >>> 0;
  }

  /** The whole memory. The view is valid until the next kernel call. */
  view(): Buffer {
    if (this.#view.buffer !== this.memory.buffer) this.#view = Buffer.from(this.memory.buffer);
    return this.#view;
  }

  /**
   * Calls kernels. A trap becomes EngineError("trap") and ends the instance; EngineError("memory") and ("late") leave
   * it as good as before, without the result.
   */
  run<T>(call: (kernels: Kernels) => T): T {
    if (this.#trapped)
      throw new EngineError("unusable", "This engine instance has trapped before and must be replaced");
    try {
      return call(this.#kernels);
    } catch (cause) {
      if (!(cause instanceof WebAssembly.RuntimeError || cause instanceof RangeError)) throw cause;
      this.#trapped = true;
      throw new EngineError("trap", `The engine trapped: ${cause.message}`, { cause });
    }
  }

  /** Fresh scratch for the input of one kernel call, to be filled in the view. Returns its address. */
  room(bytes: number): number {
    return this.run((kernels) => kernels.scratchReset(bytes)) >>> 0;
  }

  /** Copies bytes into fresh scratch, the input of one kernel call. Returns their address. */
  input(bytes: Uint8Array): number {
    const p = this.room(bytes.length);
    this.view().set(bytes, p);
    return p;
  }

  /** A region that lives until `release`, to be filled in the view. Ends all scratch. Returns the address. */
  reserve(bytes: number): number {
    return this.run((kernels) => kernels.reserve(bytes)) >>> 0;
  }

  /** Copies bytes into a region that lives until `release`. Ends all scratch. Returns the address. */
  region(bytes: Uint8Array): number {
    const p = this.reserve(bytes.length);
    this.view().set(bytes, p);
    return p;
  }

  /** Gives a region back. */
  release(region: number): void {
    this.run((kernels) => kernels.release(region));
  }

  /** An address that a kernel answered. Throws EngineError for a status. */
  address(answer: number): number {
    if (answer < 0 && answer >= LOWEST_STATUS) throw statusError(answer);
    return answer >>> 0;
  }

  /** A copy of the result (u32 length + bytes) that a kernel answered. Throws EngineError for a status. */
  result(answer: number): Uint8Array {
    const p = this.address(answer);
    const view = this.view();
    return new Uint8Array(view.subarray(p + 4, p + 4 + view.readUInt32LE(p)));
  }

  /**
   * Calls kernels. Those that look at the time end with EngineError("late") when Date.now() passes `deadline`, and when no more work is
   * left. Each millisecond in which they look is taken from it, those in which the thread waits for a core are not.
   */
  before<T>(deadline: number, work: WorkLeft, call: () => T): T {
    const now = Date.now();
    if (now > deadline) throw late();
    this.#deadline = deadline;
    this.#work = work;
    this.#lookMs = now;
    try {
      return call();
    } finally {
      this.#deadline = this.#lookMs = Number.POSITIVE_INFINITY;
      this.#work = UNLIMITED;
    }
  }

  /** A copy of what a kernel answers to a program on a snapshot, in time, see `before`. */
  answer(
    question: SnapshotQuestion,
    snapshot: number,
    program: Uint8Array,
    deadline: number,
    work = UNLIMITED,
  ): Uint8Array {
    return this.before(deadline, work, () =>
      this.exchange(program, (kernels, p, bytes) => kernels[question](snapshot, p, bytes)),
    );
  }

  /** Copies the input in, calls one kernel, and returns a copy of its result. */
  exchange(input: Uint8Array, kernel: (kernels: Kernels, p: number, bytes: number) => number): Uint8Array {
    const p = this.input(input);
    return this.result(this.run((kernels) => kernel(kernels, p, input.length)));
  }

  #checkDeadline(): undefined {
    if (this.#lookMs === Number.POSITIVE_INFINITY) return;
    const now = Date.now();
    if (now <= this.#lookMs) return;
    if (now > this.#deadline || --this.#work.leftMs < 0) throw late();
    this.#lookMs = now;
    this.#meanwhile();
  }
}

/** A memory for an instance, which never grows beyond `bytesMax`. Throws EngineError("memory"). */
export function newMemory(bytesMax: number): WebAssembly.Memory {
  const pages = Math.floor(bytesMax / PAGE_BYTES);
  const maximum = Math.min(MEMORY_PAGES_MAX, Math.max(MEMORY_PAGES, pages));
  try {
    return new WebAssembly.Memory({ initial: MEMORY_PAGES, maximum, shared: true });
  } catch (cause) {
    throw new EngineError("memory", "No room for another WebAssembly memory", { cause });
  }
}

function late(): EngineError {
  return new EngineError("late", "The time for this is up");
}
