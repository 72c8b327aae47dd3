// One WebAssembly instance and its linear memory. Only this file creates views of the memory. A view is valid
// until the next kernel call, because memory may grow; anything needed longer is copied out. After a trap the
// memory's contents are unknown, so the instance refuses all further work.
//
// The memory is shared (SharedArrayBuffer). Other threads may have instances on the same memory and read
// concurrently with its owner (instance/engine-reader.ts). With unshared memory, V8 would count each growth
// as if the whole memory were newly allocated, and would run a full collection after every few batches of
// documents.
import { EngineError, statusError } from "../engine-error.js";
import { stem } from "../stemmer.js";
import { brokenAssertion } from "./assertion.js";
import { type Kernels, kernelsOf } from "./kernels.js";

const MEMORY_PAGES = 2; // as in asconfig.json (initialMemory)
const MEMORY_PAGES_MAX = 65536; // as in asconfig.json (maximumMemory)
const PAGE_BYTES = 65536;
const LOWEST_STATUS = -256; // results from here to -1 are statuses; all others are addresses

/** Kernels that run a program on a snapshot. */
export type SnapshotQuestion = "expand" | "search" | "explain" | "company" | "nearest";

/** Work time (ms) that is left for a caller's kernels. */
export interface WorkLeft {
  leftMs: number;
}

const UNLIMITED: WorkLeft = { leftMs: Number.POSITIVE_INFINITY };

export class EngineInstance {
  readonly memory: WebAssembly.Memory;
  readonly #kernels: Kernels;
  #view: Buffer;
  #trapped = false;
  readonly #meanwhile: () => boolean;
  /** Date.now() after which the running kernel must end. */
  #deadline = Number.POSITIVE_INFINITY;
  /** Date.now() at the running kernel's last time check; Infinity while no kernel's time is limited. */
  #lookMs = Number.POSITIVE_INFINITY;
  /** Remaining work time of the running kernel. */
  #work = UNLIMITED;

  /**
   * Instantiates synchronously, which is allowed for small modules and in worker threads. Kernels that check
   * the time call `meanwhile` about once per millisecond, and end with EngineError("late") if it returns
   * false. `meanwhile` must not use this instance and must not throw.
   */
  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory, meanwhile: () => boolean = () => true) {
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

  /** Peak linear memory usage, which never shrinks. The system allocates pages only up to this peak. */
  memoryBytes(): number {
    return this.#trapped ? this.memory.buffer.byteLength : this.#kernels.reachedBytes() >>> 0;
  }

  /** The whole memory. The view is valid until the next kernel call. */
  view(): Buffer {
    if (this.#view.buffer !== this.memory.buffer) this.#view = Buffer.from(this.memory.buffer);
    return this.#view;
  }

  /**
   * Runs `call`, which calls kernels. A trap becomes EngineError("trap") and ends the instance. After
   * EngineError("memory") or EngineError("late") there is no result, but the instance stays usable.
   */
  run<T>(call: (kernels: Kernels) => T): T {
    this.#checkUsable();
    try {
      return call(this.#kernels);
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  #checkUsable(): void {
    if (this.#trapped)
      throw new EngineError("unusable", "This engine instance has trapped before and must be replaced");
  }

  /** Returns what to throw after a kernel threw `cause`. Notes a trap. */
  #failure(cause: unknown): unknown {
    if (!(cause instanceof WebAssembly.RuntimeError || cause instanceof RangeError)) return cause;
    this.#trapped = true;
    return new EngineError("trap", `The engine trapped: ${cause.message}`, { cause });
  }

  /** Allocates scratch for one kernel call's input, to be filled through the view. Returns its address. */
  room(bytes: number): number {
    return this.run((kernels) => kernels.scratchReset(bytes)) >>> 0;
  }

  /** Copies bytes into fresh scratch as one kernel call's input. Returns their address. */
  input(bytes: Uint8Array): number {
    const p = this.room(bytes.length);
    this.view().set(bytes, p);
    return p;
  }

  /**
   * Allocates a region that lives until `release`, to be filled through the view. Invalidates all scratch.
   * Returns its address.
   */
  reserve(bytes: number): number {
    return this.run((kernels) => kernels.reserve(bytes)) >>> 0;
  }

  /**
   * Copies bytes into a region that lives until `release`. Invalidates all scratch. Returns the region's
   * address.
   */
  region(bytes: Uint8Array): number {
    const p = this.reserve(bytes.length);
    this.view().set(bytes, p);
    return p;
  }

  /** Frees a region. Invalidates all scratch. */
  release(region: number): void {
    this.run((kernels) => kernels.release(region));
  }

  /** Converts a kernel's return value to an address. Throws EngineError if the value is a status. */
  address(answer: number): number {
    if (answer < 0 && answer >= LOWEST_STATUS) throw statusError(answer);
    return answer >>> 0;
  }

  /**
   * Returns a copy of the result (u32 length, then bytes) that a kernel's return value points to. Throws
   * EngineError if the value is a status.
   */
  result(answer: number): Uint8Array {
    return new Uint8Array(this.#resultView(answer));
  }

  #resultView(answer: number): Buffer {
    const p = this.address(answer);
    const end = p + 4 + this.#viewTo(p + 4).readUInt32LE(p);
    return this.#viewTo(end).subarray(p + 4, end);
  }

  /**
   * A view of at least the first `end` bytes. Unlike `view`, does not ask for the memory's buffer, which is
   * a call into V8. A shared memory stays in place when it grows, so an older view is only too short.
   */
  #viewTo(end: number): Buffer {
    if (end > this.#view.length) this.#view = Buffer.from(this.memory.buffer);
    return this.#view;
  }

  /**
   * Runs `call`, which calls kernels. Kernels that check the time end with EngineError("late") once
   * Date.now() passes `deadline` or no work time is left. Each millisecond in which a kernel checks the time
   * is charged to `work`; milliseconds that the thread spends waiting for a core are not.
   */
  before<T>(deadline: number, work: WorkLeft, call: () => T): T {
    this.#begin(deadline, work);
    try {
      return call();
    } finally {
      this.#end();
    }
  }

  /**
   * Runs a program on a snapshot and returns a copy of the kernel's result, within the time limits of
   * `before`. Several run for each query, so nothing is created for them but the copy, which is part of
   * Node's pool if it is short: an ArrayBuffer of its own would cost more than filling it.
   */
  answer(
    question: SnapshotQuestion,
    snapshot: number,
    program: Uint8Array,
    deadline: number,
    work = UNLIMITED,
  ): Uint8Array {
    this.#begin(deadline, work);
    try {
      this.#checkUsable();
      const p = this.#kernels.scratchReset(program.length) >>> 0;
      this.#viewTo(p + program.length).set(program, p);
      const result = this.#resultView(this.#kernels[question](snapshot, p, program.length));
      const copy = Buffer.allocUnsafe(result.length);
      copy.set(result);
      return copy;
    } catch (cause) {
      throw this.#failure(cause);
    } finally {
      this.#end();
    }
  }

  /** Copies the input in, calls one kernel, and returns a copy of the kernel's result. */
  exchange(input: Uint8Array, kernel: (kernels: Kernels, p: number, bytes: number) => number): Uint8Array {
    const p = this.input(input);
    return this.result(this.run((kernels) => kernel(kernels, p, input.length)));
  }

  #begin(deadline: number, work: WorkLeft): void {
    const now = Date.now();
    if (now > deadline) throw late();
    this.#deadline = deadline;
    this.#work = work;
    this.#lookMs = now;
  }

  #end(): void {
    this.#deadline = this.#lookMs = Number.POSITIVE_INFINITY;
    this.#work = UNLIMITED;
  }

  #checkDeadline(): undefined {
    if (this.#lookMs === Number.POSITIVE_INFINITY) return;
    const now = Date.now();
    if (now <= this.#lookMs) return;
    if (now > this.#deadline || --this.#work.leftMs < 0) throw late();
    this.#lookMs = now;
    if (!this.#meanwhile()) throw late();
  }
}

/** Creates a memory that never grows beyond `bytesMax`. Throws EngineError("memory"). */
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
