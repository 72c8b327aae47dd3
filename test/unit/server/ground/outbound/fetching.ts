// Downloads for tests: from loopback, which is allowed unless a test says otherwise, and with pauses that are
// recorded instead of waited for.
import { expect } from "vitest";
import type { FeedErrorCode } from "../../../../../server/ground/errors.js";
import { INTERNET, type Network } from "../../../../../server/ground/outbound/connector.js";
import {
  type Downloaded,
  type DownloadRequest,
  download,
  type OutboundRules,
} from "../../../../../server/ground/outbound/download.js";
import type { Clock } from "../../../../../server/ground/outbound/patience.js";

const RULES: OutboundRules = {
  allowPrivate: false,
  allowHosts: ["127.0.0.1"],
  bytesMax: 1 << 26,
  msMax: 600_000,
  silenceMsMax: 600_000,
  redirectsMax: 3,
};

/** A clock that advances only during pauses. */
export class TestClock implements Clock {
  readonly pauses: number[] = [];
  #nowMs = Date.parse("2026-01-01T00:00:00Z");

  now(): number {
    return this.#nowMs;
  }

  async pause(ms: number): Promise<void> {
    this.pauses.push(ms);
    this.#nowMs += ms;
  }
}

export interface Fetch extends Partial<DownloadRequest>, Partial<OutboundRules> {
  readonly signal?: AbortSignal;
  readonly network?: Partial<Network>;
  readonly clock?: Clock;
}

export function fetchFrom(url: string, fetch: Fetch = {}): Promise<Downloaded> {
  const request = { url, credentials: null, etag: null, lastModified: null, accept: "text/csv", ...fetch };
  const signal = fetch.signal ?? new AbortController().signal;
  const network = { ...INTERNET, ...fetch.network };
  return download(request, { ...RULES, ...fetch }, signal, network, fetch.clock ?? new TestClock());
}

/** Returns the download. Throws if it has no body. */
export async function bodyFrom(
  url: string,
  fetch: Fetch = {},
): Promise<Extract<Downloaded, { notModified: false }>> {
  const downloaded = await fetchFrom(url, fetch);
  if (downloaded.notModified) throw new Error(`${url} is said to be unchanged`);
  return downloaded;
}

/** Returns the whole body. */
export async function bytesFrom(url: string, fetch: Fetch = {}): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await bodyFrom(url, fetch)).chunks) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Expects the download to fail, at its start or in its body, with the given code and message. */
export async function expectFailure(
  url: string,
  fetch: Fetch,
  code: FeedErrorCode,
  message: string | RegExp,
): Promise<void> {
  const failure = await bytesFrom(url, fetch).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code });
  expect((failure as Error).message).toMatch(message instanceof RegExp ? message : exactly(message));
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}

/** Returns bytes without nearby repetition, so that a test notices a missing or duplicated piece. */
export function body(length: number, seed = 1): Buffer {
  let state = seed;
  return Buffer.alloc(length).map(() => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  }) as Buffer;
}
