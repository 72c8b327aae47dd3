// Admits requests on one thread by the memory that they will need: parsed bodies, programs, results and
// replies. What does not fit waits, and holds nothing but its unparsed body. Keys take turns, so that a
// tenant's visitors do not wait behind everything that one of its keys sends. A tenant may use half of the
// memory, so there is room for the others whatever it sends. Everything is released when the request has been
// answered completely or its client has left.
import { FairQueue } from "../../shards/protocol/fair-queue.js";
import type { Principal } from "../access/tenants/principal.js";
import { SkeinError } from "../ground/errors.js";
import { within } from "../ground/jobs/deadline.js";
import type { Held, RequestLife } from "../ground/jobs/request-life.js";
import { WaitingTurn } from "../ground/jobs/waiting-turn.js";
import type { Limits } from "../ground/limits.js";

/** Share of the memory, and of the requests in flight, that one tenant may use. */
const TENANT_SHARE = 0.5;
/** Number of tenants whose shares are kept although they use nothing, so that few requests create one. */
const SHARES_KEPT = 1_000;

/**
 * Searches and everything else are admitted separately, so that a tenant's imports do not delay its searches.
 */
export type Admissions = Readonly<Record<"searches" | "others", Admission>>;

export function admissions(limits: AdmissionLimits): Admissions {
  const half = { ...limits, workBytesMax: Math.floor(limits.workBytesMax / 2) };
  return { searches: new Admission(half), others: new Admission(half) };
}

type AdmissionLimits = Pick<Limits, "workBytesMax" | "requestsInFlightMax" | "searchMsMax">;

/** An amount that requests hold until they are answered or their clients leave. */
class HeldAmount implements Held {
  held = 0;
  readonly #onRelease: (amount: number) => void;

  constructor(onRelease: (amount: number) => void) {
    this.#onRelease = onRelease;
  }

  hold(life: RequestLife, amount: number): void {
    this.held += amount;
    life.hold(this, amount);
  }

  release(amount: number): void {
    this.held -= amount;
    this.#onRelease(amount);
  }
}

/** What a tenant's requests on this thread use and wait for. */
interface Share {
  readonly requests: HeldAmount;
  readonly bytes: HeldAmount;
  waiting: number;
}

/** Who sent a request. */
export type Sender = Pick<Principal, "tenant" | "keyId">;

/** A request in the line. */
interface Waiting {
  readonly tenant: number;
  readonly turn: WaitingTurn;
  readonly bytes: number;
}

export class Admission {
  readonly #bytesMax: number;
  readonly #tenantBytesMax: number;
  readonly #tenantRequestsMax: number;
  readonly #waitMsMax: number;
  readonly #shares = new Map<number, Share>();
  readonly #line = new FairQueue<Waiting>();
  /** The request that is admitted as soon as the thread has room for it, whatever waits behind it. */
  #first: { readonly flow: number; readonly item: Waiting } | undefined;
  #bytes = 0;
  #admitsSoon = false;

  constructor({ workBytesMax, requestsInFlightMax, searchMsMax }: AdmissionLimits) {
    this.#bytesMax = workBytesMax;
    this.#tenantBytesMax = Math.floor(workBytesMax * TENANT_SHARE);
    this.#tenantRequestsMax = Math.ceil(requestsInFlightMax * TENANT_SHARE);
    this.#waitMsMax = searchMsMax;
  }

  /** Memory (bytes) that the admitted requests are expected to need. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a tenant's request in flight. Throws SK-SYS-429 if the tenant has too many. */
  begin(tenant: number, life: RequestLife): void {
    const share = this.#shareOf(tenant);
    if (share.requests.held >= this.#tenantRequestsMax) {
      throw new SkeinError("SK-SYS-429", "the tenant has too many requests in flight; retry in a moment", {
        retryAfter: 1,
      });
    }
    share.requests.hold(life, 1);
  }

  /**
   * Reserves memory until the request has been answered completely or its client has left, even if its time
   * is over before. Returns undefined if there is room now, otherwise a promise that resolves when there is,
   * and rejects with SK-SYS-503 if that takes too long, or with the reason for which the life ends. A request
   * that needs more than a tenant's share gets all of it.
   */
  reserve(sender: Sender, life: RequestLife, bytes: number): Promise<void> | undefined {
    const { tenant } = sender;
    const wanted = Math.min(bytes, this.#tenantBytesMax);
    const share = this.#shareOf(tenant);
    if (this.#first === undefined && share.waiting === 0 && this.#fits(share, wanted)) {
      this.#hold(share, life, wanted);
      return undefined;
    }
    return within(this.#wait(sender, share, life, wanted), this.#waitMsMax, () => {
      const late = new SkeinError("SK-SYS-503", "the server is busy; retry in a moment", { retryAfter: 1 });
      life.expire(late);
      throw late;
    });
  }

  #wait(sender: Sender, share: Share, life: RequestLife, bytes: number): Promise<void> {
    const { tenant } = sender;
    return new Promise((resolve, reject) => {
      share.waiting++;
      const begin = (): void => {
        share.waiting--;
        this.#hold(share, life, bytes);
        resolve();
      };
      const giveUp = (reason: Error): void => {
        share.waiting--;
        reject(reason);
        this.#admitSoon(); // others may have waited behind it
        this.#forgetIfUnused(tenant, share);
      };
      this.#line.add(flowOf(sender), { tenant, turn: new WaitingTurn(life, begin, giveUp), bytes });
      this.#admitWaiting();
    });
  }

  #hold(share: Share, life: RequestLife, bytes: number): void {
    this.#bytes += bytes;
    share.bytes.hold(life, bytes);
  }

  #fits(share: Share, bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax && share.bytes.held + bytes <= this.#tenantBytesMax;
  }

  /**
   * Many requests often end at once, because their clients leave or their time is over. So waits until the
   * event loop has handled all of these ends, and admits nobody whose own end is among them.
   */
  #admitSoon(): void {
    if (this.#admitsSoon || (this.#first === undefined && this.#line.size === 0)) return;
    this.#admitsSoon = true;
    setImmediate(() => {
      this.#admitsSoon = false;
      this.#admitWaiting();
    });
  }

  /**
   * Admits waiting requests, those of the keys with the least use first. If the first of them needs more than
   * the thread has left, the others wait too: small requests must not keep a large one out for good.
   */
  #admitWaiting(): void {
    for (;;) {
      this.#first ??= this.#line.take(
        ({ tenant, turn, bytes }) => turn.life.over || this.#hasShare(tenant, bytes),
      );
      if (this.#first === undefined) break;
      const { flow, item: waiting } = this.#first;
      if (!waiting.turn.life.over && this.#bytes + waiting.bytes > this.#bytesMax) return;
      if (waiting.turn.begin()) this.#line.spent(flow, waiting.bytes);
      this.#first = undefined;
    }
    if (this.#line.size === 0) this.#line.reset();
  }

  #hasShare(tenant: number, bytes: number): boolean {
    return (this.#shares.get(tenant)?.bytes.held ?? 0) + bytes <= this.#tenantBytesMax;
  }

  #shareOf(tenant: number): Share {
    return this.#shares.get(tenant) ?? this.#newShare(tenant);
  }

  #newShare(tenant: number): Share {
    const share: Share = {
      requests: new HeldAmount(() => this.#forgetIfUnused(tenant, share)),
      bytes: new HeldAmount((bytes) => {
        this.#bytes -= bytes;
        this.#admitSoon();
        this.#forgetIfUnused(tenant, share);
      }),
      waiting: 0,
    };
    this.#shares.set(tenant, share);
    return share;
  }

  #forgetIfUnused(tenant: number, { requests, bytes, waiting }: Share): void {
    if (this.#shares.size <= SHARES_KEPT) return;
    if (requests.held === 0 && bytes.held === 0 && waiting === 0) this.#shares.delete(tenant);
  }
}

/** The flow of a sender's requests in the line: its key, or the bootstrap key for a tenant. */
function flowOf({ tenant, keyId }: Sender): number {
  return keyId ?? -tenant;
}
