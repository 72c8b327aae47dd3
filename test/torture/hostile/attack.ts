// What an attack is: waves of hostile clients, described by what they send and how they behave, and the
// bounds within which the server must stay. Attacks are data; attacker.ts carries them out, judge.ts judges.
import type { Place } from "./place.js";

/** How a client treats the server. Times begin when it has sent what it sends. */
export type Manner =
  /** Sends the request and reads the reply. */
  | { readonly kind: "reads" }
  /** Leaves without having read the reply. */
  | { readonly kind: "leaves"; readonly afterMs: number }
  /** Reads the reply at this rate, which may be 0, and leaves at the end. */
  | { readonly kind: "sips"; readonly bytesPerSecond: number; readonly holdMs: number }
  /** Sends the request at this rate, which may be 0, and leaves at the end. */
  | { readonly kind: "dribbles"; readonly bytesPerSecond: number; readonly holdMs: number }
  /** Sends a share of the request and then waits for the server to end it. */
  | { readonly kind: "stalls"; readonly share: number }
  /** Sends a share of the request and leaves. */
  | { readonly kind: "breaks off"; readonly share: number };

/** Hostile clients of one kind. Each sends one request per connection, and then the next. */
export interface Wave {
  readonly clients: number;
  /** Requests of all clients together. */
  readonly requests: number;
  /** Pause of a client between two requests, in milliseconds. */
  readonly pauseMs?: number;
  readonly manner: Manner;
  /** Prepares what takes long. Returns a function that makes the bytes of request number `i`. */
  prepare(place: Place): (i: number) => Buffer;
}

/** What else happens to the server while the waves run. */
export interface Mishap {
  readonly kind: "stop" | "front-end exits" | "front-end out of heap";
  readonly afterMs: number;
}

/** What visitors with plain searches may experience. */
export interface VisitorBounds {
  readonly p99MsMax: number;
  readonly msMax: number;
  /** Share of searches that may be answered with 429 or 503. */
  readonly refusedMax: number;
  /** Share of searches that may get no answer, or another one. */
  readonly failedMax: number;
}

export interface Bounds {
  /** Milliseconds until a request whose client waits has ended, with an answer or by closing. */
  readonly endMsMax: number;
  /** By how much resident memory may grow, as a share of the heap limit. */
  readonly grownMax: number;
  /** How much of the growth may still be there after the rest, as a share of the heap limit. */
  readonly keptMax: number;
  /** Milliseconds until no request is in flight once the last client has left. */
  readonly drainMsMax: number;
  /** Milliseconds from SIGTERM to the end of the process. */
  readonly stopMsMax: number;
  readonly sameTenant: VisitorBounds;
  readonly otherTenant: VisitorBounds;
}

export interface Attack {
  readonly name: string;
  /** What the hostile clients do, in a sentence. */
  readonly what: string;
  /** All waves run at the same time. */
  readonly waves: readonly Wave[];
  readonly mishap?: Mishap;
  readonly bounds?: Partial<Bounds>;
}

/** `searchMsMax`, which the server promises for every search, and a margin for a busy machine. */
const ANSWER_MS_MAX = 10_000 + 2_000;

export const BOUNDS: Bounds = {
  endMsMax: ANSWER_MS_MAX,
  grownMax: 1,
  keptMax: 0.5,
  drainMsMax: ANSWER_MS_MAX,
  stopMsMax: ANSWER_MS_MAX,
  sameTenant: { p99MsMax: ANSWER_MS_MAX, msMax: ANSWER_MS_MAX, refusedMax: 0.5, failedMax: 0 },
  otherTenant: { p99MsMax: 2_000, msMax: ANSWER_MS_MAX, refusedMax: 0.02, failedMax: 0 },
};
