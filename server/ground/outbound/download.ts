// Performs one download over HTTP or HTTPS: gets the first answer, retries, and returns the body as one
// stream even if connections break. A broken body is resumed with a range request if the server supports it.
// Otherwise it is fetched again from the start, and the part that the reader already has is skipped after its
// hash has been verified. Does not look at the body's contents or encoding: ranges count bytes as sent.
import { createHash } from "node:crypto";
import { FeedError } from "../errors.js";
import { TIMER_MS_MAX } from "../jobs/deadline.js";
import type { AddressRules } from "./addresses.js";
import { INTERNET, type Network, type OutboundRoute } from "./connector.js";
import type { Answer } from "./exchange.js";
import { PassingError, seconds } from "./failures.js";
import { type Clock, retryAfterMs, SYSTEM_CLOCK } from "./patience.js";
import { type Credentials, follow } from "./redirects.js";

export interface OutboundRules extends AddressRules {
  /** The body's maximum size in bytes, as sent. */
  readonly bytesMax: number;
  /** Maximum duration (ms) of the whole download, including the reader's own time. */
  readonly msMax: number;
  /** Maximum time (ms) to wait for a connection, for the answer's head, and for each piece of the body. */
  readonly silenceMsMax: number;
  readonly redirectsMax: number;
}

export interface DownloadRequest {
  readonly url: string;
  readonly credentials: Credentials | null;
  /**
   * The previous download's validators. If they are given, the server may answer that nothing has changed.
   */
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly accept: string;
}

export type Downloaded = { readonly notModified: true } | DownloadedBody;

interface DownloadedBody {
  readonly notModified: false;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /**
   * The body. It can be read only once. The connection is closed at the body's end or by return(). Throws
   * FeedError, or the signal's reason.
   */
  readonly chunks: AsyncIterableIterator<Uint8Array>;
  /** Number of bytes, as sent, that the reader has taken from the body. */
  bytesRead(): number;
  /**
   * True if the server said where the body ends, so `chunks` does not end before. Known once `chunks` has
   * ended.
   */
  isDelimited(): boolean;
}

/** Pause (ms) before each retry. There are no more retries than this, however often the download breaks. */
const PAUSES_MS = [2_000, 10_000];

/**
 * Requests `request.url` and resolves when the answer's head has arrived. The caller must read `chunks` to
 * the end or call its return(). Throws FeedError, or the signal's reason.
 */
export async function download(
  request: DownloadRequest,
  rules: OutboundRules,
  signal: AbortSignal,
  network: Network = INTERNET,
  clock: Clock = SYSTEM_CLOCK,
): Promise<Downloaded> {
  const body = new Body(request, rules, signal, network, clock);
  const first = await body.open();
  if (first.status === 304) {
    body.end();
    return { notModified: true };
  }
  return {
    notModified: false,
    contentType: first.header("content-type"),
    contentEncoding: first.header("content-encoding"),
    etag: first.header("etag"),
    lastModified: first.header("last-modified"),
    chunks: body,
    bytesRead: () => body.bytesRead,
    isDelimited: () => body.isDelimited,
  };
}

class Body implements AsyncIterableIterator<Uint8Array> {
  readonly #request: DownloadRequest;
  readonly #rules: OutboundRules;
  readonly #outerSignal: AbortSignal;
  readonly #clock: Clock;
  readonly #route: OutboundRoute;
  readonly #untilMs: number;
  readonly #timer: NodeJS.Timeout;
  /** Ends whatever is in flight. Aborted by the outer signal, by the time limit or by end(). */
  readonly #ending = new AbortController();
  readonly #readHash = createHash("sha256");
  /** The answer whose body is being read. Null after the connection has broken, until the next attempt. */
  #answer: Answer | null = null;
  /**
   * The latest answer that began with the body's first byte. The parts that resume it must come from the same
   * body.
   */
  #whole: Answer | null = null;
  /** Length of the whole body; null until an answer has stated it. */
  #length: number | null = null;
  #canRange = true;
  #tries = 0;
  #isOver = false;
  bytesRead = 0;

  constructor(
    request: DownloadRequest,
    rules: OutboundRules,
    outerSignal: AbortSignal,
    network: Network,
    clock: Clock,
  ) {
    this.#request = request;
    this.#rules = rules;
    this.#outerSignal = outerSignal;
    this.#clock = clock;
    this.#untilMs = clock.now() + rules.msMax;
    this.#route = { rules, network, silenceMsMax: rules.silenceMsMax, signal: this.#ending.signal };
    this.#timer = setTimeout(
      () => this.#stop(new FeedError("SK-DS-504", `the download took longer than ${seconds(rules.msMax)}`)),
      Math.min(rules.msMax, TIMER_MS_MAX),
    );
    outerSignal.addEventListener("abort", this.#abort);
    if (outerSignal.aborted) this.#abort();
  }

  /** Requests the body and returns the first answer. Its status is 200, or 304 if a validator was sent. */
  open(): Promise<Answer> {
    const { etag, lastModified } = this.#request;
    const validators = {
      ...(etag !== null && { "if-none-match": etag }),
      ...(lastModified !== null && { "if-modified-since": lastModified }),
    };
    return this.#trying(async () => {
      const answer = await this.#ask(validators, etag !== null || lastModified !== null ? [200, 304] : [200]);
      this.#begin(answer);
      return answer;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isOver) return { done: true, value: undefined };
    const piece = await this.#trying(() => this.#answer?.next() ?? this.#reopened());
    if (piece === null) {
      this.end();
      if (this.#length !== null && this.bytesRead !== this.#length) throw changed();
      return { done: true, value: undefined };
    }
    this.bytesRead += piece.length;
    if (this.bytesRead > this.#rules.bytesMax) {
      this.end();
      throw this.#tooLarge();
    }
    this.#readHash.update(piece);
    return { done: false, value: piece };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.end();
    return { done: true, value: undefined };
  }

  get isDelimited(): boolean {
    return this.#length !== null || this.#whole?.isDelimited === true;
  }

  /** Closes the connection. No timer or listener remains. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#outerSignal.removeEventListener("abort", this.#abort);
    this.#stop(new DOMException("the download was ended", "AbortError"));
  }

  readonly #abort = (): void => this.#stop(this.#outerSignal.reason);

  #stop(reason: unknown): void {
    this.#ending.abort(reason);
    this.#answer?.close();
  }

  /**
   * Runs `step`, and repeats it after a transient failure while there are retries left. Any other failure
   * ends the download.
   */
  async #trying<T>(step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        this.#ending.signal.throwIfAborted();
        return await step();
      } catch (error) {
        this.#answer?.close();
        this.#answer = null;
        const pauseMs = this.#pauseMsAfter(error);
        if (pauseMs === null) {
          this.end();
          throw error;
        }
        this.#tries += 1;
        // Do not throw if the pause is aborted: the next attempt throws the signal's reason.
        await this.#clock.pause(pauseMs, this.#ending.signal).catch(() => undefined);
      }
    }
  }

  /**
   * How long to wait before the next attempt. Null if there is none: the failure is permanent, the retries
   * are used up, or the pause would exceed the time limit.
   */
  #pauseMsAfter(error: unknown): number | null {
    const usualMs = PAUSES_MS[this.#tries];
    if (!(error instanceof PassingError) || usualMs === undefined) return null;
    const pauseMs = Math.max(usualMs, error.afterMs ?? 0);
    return this.#clock.now() + pauseMs < this.#untilMs ? pauseMs : null;
  }

  /**
   * Sends a request. Throws unless the answer has one of these statuses and its stated length is within the
   * limit.
   */
  async #ask(headers: Readonly<Record<string, string>>, statuses: readonly number[]): Promise<Answer> {
    const { url, credentials, accept } = this.#request;
    const all = { accept, "accept-encoding": "gzip, deflate", "user-agent": "Skein", ...headers };
    const answer = await follow(url, credentials, all, this.#rules.redirectsMax, this.#route);
    this.#answer = answer;
    if (!statuses.includes(answer.status)) throw this.#statusFailure(answer);
    if ((answer.length ?? 0) > this.#rules.bytesMax) throw this.#tooLarge();
    return answer;
  }

  #begin(whole: Answer): void {
    this.#whole = whole;
    this.#length = whole.length;
  }

  #statusFailure(answer: Answer): FeedError {
    const { status } = answer;
    const sentence = `${answer.url.host} answered with status ${status}`;
    if (status === 401 || status === 403) return new FeedError("SK-DS-401", sentence);
    if (status !== 429 && status < 500) return new FeedError("SK-DS-502", sentence);
    const afterMs = retryAfterMs(answer.header("retry-after"), this.#clock.now());
    return new PassingError("SK-DS-502", sentence, undefined, afterMs);
  }

  #tooLarge(): FeedError {
    return new FeedError("SK-DS-413", `the feed is larger than ${this.#rules.bytesMax} bytes`);
  }

  /**
   * Requests the body again after its connection broke. Returns the first piece that the reader does not have
   * yet, or null if it has everything.
   */
  async #reopened(): Promise<Uint8Array | null> {
    const whole = this.#whole!;
    const range = this.#canRange ? rangeHeaders(whole, this.bytesRead) : null;
    const answer = await this.#ask(range ?? {}, range === null ? [200] : [200, 206, 416]);
    if (answer.status === 200) return this.#firstUnread(answer);
    const length = lengthWithRest(whole, answer, this.bytesRead);
    if (length === null) {
      this.#canRange = false;
      throw new PassingError("SK-DS-520", `${answer.url.host} did not send the rest of its answer`);
    }
    this.#length = length;
    return answer.next();
  }

  /**
   * Skips the part of a new answer that the reader already has, checks that this part is unchanged, and
   * returns the piece after it.
   */
  async #firstUnread(answer: Answer): Promise<Uint8Array | null> {
    for (const name of ["content-type", "content-encoding"]) {
      if (answer.header(name) !== this.#whole!.header(name)) throw changed();
    }
    const hash = createHash("sha256");
    let missing = this.bytesRead;
    let piece: Uint8Array | null = new Uint8Array();
    while (missing > 0) {
      piece = await answer.next();
      if (piece === null) throw changed();
      const known = piece.subarray(0, missing);
      hash.update(known);
      missing -= known.length;
      piece = piece.subarray(known.length);
    }
    if (!hash.digest().equals(this.#readHash.copy().digest())) throw changed();
    this.#begin(answer);
    return piece.length > 0 ? piece : answer.next();
  }
}

/**
 * Headers that request the same body's bytes from `at` to its end. Null if `at` is 0, or if `whole` has
 * neither a strong ETag nor a Last-Modified date, by which the server could recognise the body.
 */
function rangeHeaders(whole: Answer, at: number): Record<string, string> | null {
  const etag = whole.header("etag");
  const validator = etag?.startsWith('"') ? etag : whole.header("last-modified");
  return at === 0 || validator === null ? null : { range: `bytes=${at}-`, "if-range": validator };
}

/** If `rest` is the same body from `at` to its end, the whole body's length. Otherwise null. */
function lengthWithRest(whole: Answer, rest: Answer, at: number): number | null {
  const [, first, last, total] =
    /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(rest.header("content-range") ?? "") ?? [];
  const length = total === "*" ? whole.length : Number(total);
  const isRest = rest.status === 206 && Number(first) === at && Number(last) + 1 === length;
  const isSame =
    length === (whole.length ?? length) &&
    (rest.header("etag") ?? whole.header("etag")) === whole.header("etag");
  return isRest && isSame ? length : null;
}

function changed(): FeedError {
  return new FeedError("SK-DS-520", "the feed changed while it was being read");
}
