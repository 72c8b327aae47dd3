// Limits how many bytes of disk and memory a tenant may use. Its indexes are measured from time to time, and
// the bytes of documents accepted since the last measurement are added. A write therefore waits for a
// measurement only if there has been none yet, or if the write does not seem to fit. Tenants without byte
// limits are never measured. Knows nothing about shards and documents.
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import { SkeinError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";

export interface TakenBytes {
  readonly diskBytes: number;
  readonly memoryBytes: number;
}

/** A plan's limits. Null means unlimited. */
export interface ByteLimits {
  readonly diskBytes: number | null;
  readonly memoryBytes: number | null;
}

export interface ByteQuotasOptions {
  readonly limitsOf: (tenant: number) => ByteLimits;
  /** Measures each of the tenant's indexes now. If it rejects, the quota keeps using the last known sizes. */
  readonly measure: (tenant: number) => Promise<readonly TakenBytes[]>;
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** If the last measurement is older than this, an accepted write starts a new one without waiting for it. */
const RENEW_MS = 2_000;
/**
 * A write may be refused without a new measurement if the last one is younger than this and no document has
 * been accepted since.
 */
const FRESH_MS = 1_000;
const KINDS = [
  ["diskBytes", "disk"],
  ["memoryBytes", "memory"],
] as const;

/** Total size of several indexes. */
function takenTogether(sizes: readonly TakenBytes[]): TakenBytes {
  return {
    diskBytes: sizes.reduce((sum, { diskBytes }) => sum + diskBytes, 0),
    memoryBytes: sizes.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}

export class ByteQuotas {
  readonly #options: ByteQuotasOptions;
  readonly #tenants = new Map<number, TenantBytes>();

  constructor(options: ByteQuotasOptions) {
    this.#options = options;
  }

  /**
   * Runs a write of documents that total `bytes` bytes. `write` receives null, or the reason why the
   * documents are refused. A tenant's writes start in order of arrival, even if some wait for a measurement.
   */
  run<T>(tenant: number, bytes: number, write: (refused: string | null) => Promise<T>): Promise<T> {
    const { diskBytes, memoryBytes } = this.#options.limitsOf(tenant);
    let known = this.#tenants.get(tenant);
    if (diskBytes === null && memoryBytes === null && known?.waits !== true) {
      this.#tenants.delete(tenant);
      return write(null);
    }
    known ??= new TenantBytes(tenant, this.#options);
    this.#tenants.set(tenant, known);
    return known.run(bytes, write);
  }
}

class TenantBytes {
  readonly #tenant: number;
  readonly #options: ByteQuotasOptions;
  #measured: TakenBytes | null = null;
  #measuredMs = Number.NEGATIVE_INFINITY;
  /**
   * Total bytes of all documents accepted so far. The last measurement is certain to include the first
   * `#seen` of them.
   */
  #accepted = 0;
  #seen = 0;
  /** Total bytes of accepted writes that are still running. */
  #underWay = 0;
  #measuring: Promise<void> | null = null;
  /** Writes waiting for a measurement, or queued behind such a write. */
  readonly #waiting = new Lane();

  constructor(tenant: number, options: ByteQuotasOptions) {
    this.#tenant = tenant;
    this.#options = options;
  }

  /** True if writes are waiting. Later writes must then queue behind them. */
  get waits(): boolean {
    return this.#waiting.size > 0;
  }

  async run<T>(bytes: number, write: (refused: string | null) => Promise<T>): Promise<T> {
    if (!this.waits && this.#isDecided(bytes)) return this.#begin(bytes, write);
    const { answer } = await this.#waiting.run(async () => {
      if (!this.#isDecided(bytes)) await this.#measure();
      return { answer: this.#begin(bytes, write) }; // in an object: the lane must not await it
    });
    return answer;
  }

  /** True if the write can be admitted or refused without a new measurement. */
  #isDecided(bytes: number): boolean {
    if (this.#refusal(bytes) === null) return this.#measured !== null;
    return this.#accepted === this.#seen && this.#ageMs < FRESH_MS;
  }

  #begin<T>(bytes: number, write: (refused: string | null) => Promise<T>): Promise<T> {
    const refused = this.#refusal(bytes);
    if (refused !== null) return write(refused);
    this.#accepted += bytes;
    this.#underWay += bytes;
    if (this.#ageMs > RENEW_MS) void this.#measure();
    return write(null).finally(() => {
      this.#underWay -= bytes;
    });
  }

  get #ageMs(): number {
    return this.#options.nowMs() - this.#measuredMs;
  }

  /** Returns why the bytes must be refused. Null if they fit or if nothing has been measured yet. */
  #refusal(bytes: number): string | null {
    if (this.#measured === null) return null;
    const limits = this.#options.limitsOf(this.#tenant);
    for (const [member, kind] of KINDS) {
      const limit = limits[member];
      const used = this.#measured[member] + this.#accepted - this.#seen;
      if (limit === null || used + bytes <= limit) continue;
      return `the plan allows ${limit} bytes of ${kind}, of which about ${used} are used; delete documents, then retry in a moment`;
    }
    return null;
  }

  /** Only one measurement runs at a time; concurrent callers share it. Never rejects. */
  #measure(): Promise<void> {
    this.#measuring ??= this.#measureNow().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  async #measureNow(): Promise<void> {
    const seen = this.#accepted - this.#underWay;
    try {
      this.#measured = takenTogether(await this.#options.measure(this.#tenant));
      this.#seen = seen;
    } catch (error) {
      // A SkeinError means that a shard is restarting or the server is stopping. It needs no alarm, because
      // writes get the same error from the shards.
      const level = error instanceof SkeinError ? "debug" : "error";
      this.#options.log[level](
        { err: error, tenant: this.#tenant },
        "what a tenant takes of disk and memory could not be measured",
      );
    }
    this.#measuredMs = this.#options.nowMs();
  }
}
