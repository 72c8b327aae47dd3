// How many bytes of disk and of memory a tenant may take. What its indexes take is measured now and then, and the bytes of
// documents that were accepted since are added, so no write waits for a measurement unless it seems not to fit. Tenants
// whose plan limits no bytes are never measured. Knows no shard and no document.
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import { SkeinError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";

export interface TakenBytes {
  readonly diskBytes: number;
  readonly memoryBytes: number;
}

/** null: unlimited. */
export interface ByteLimits {
  readonly diskBytes: number | null;
  readonly memoryBytes: number | null;
}

export interface ByteQuotasOptions {
  readonly limitsOf: (tenant: number) => ByteLimits;
  /** Asks what each of the tenant's indexes takes now. May reject; what was known before then stays. */
  readonly measure: (tenant: number) => Promise<readonly TakenBytes[]>;
  /** Milliseconds that only go up. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** A write that finds an older measurement has the next one made, and does not wait for it. */
const RENEW_MS = 2_000;
/** A measurement is taken for the present state for so long, if no document was accepted since. */
const FRESH_MS = 1_000;
const KINDS = [
  ["diskBytes", "disk"],
  ["memoryBytes", "memory"],
] as const;

/** What several indexes take. */
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
   * Runs a write that brings so many bytes of documents. It is told null, or why its documents are refused. Writes of a
   * tenant begin in the order in which they come, also those that wait for a measurement.
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
  /** Bytes of all documents that were ever accepted, and which part of them the measurement is sure to have seen. */
  #accepted = 0;
  #seen = 0;
  /** Bytes of the writes that are not answered yet. */
  #underWay = 0;
  #measuring: Promise<void> | null = null;
  /** Writes that wait for a measurement, or for a write that does. */
  readonly #waiting = new Lane();

  constructor(tenant: number, options: ByteQuotasOptions) {
    this.#tenant = tenant;
    this.#options = options;
  }

  /** Writes wait, so that a later one must not begin before them. */
  get waits(): boolean {
    return this.#waiting.size > 0;
  }

  async run<T>(bytes: number, write: (refused: string | null) => Promise<T>): Promise<T> {
    if (!this.waits && this.#isDecided(bytes)) return this.#begin(bytes, write);
    const { answer } = await this.#waiting.run(async () => {
      if (!this.#isDecided(bytes)) await this.#measure();
      return { answer: this.#begin(bytes, write) }; // the next one does not wait for the answer
    });
    return answer;
  }

  /** Whether the write can be let in or refused by what is known. */
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

  /** Null when the bytes fit, or when nothing is known. */
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

  /** One at a time: whoever asks while one is made gets that one. Never rejects. */
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
      // A SkeinError says that a shard restarts or the server stops, which the shards tell the writes as well.
      const level = error instanceof SkeinError ? "debug" : "error";
      this.#options.log[level](
        { err: error, tenant: this.#tenant },
        "what a tenant takes of disk and memory could not be measured",
      );
    }
    this.#measuredMs = this.#options.nowMs();
  }
}
