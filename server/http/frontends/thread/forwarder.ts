// A front-end's side of the requests that the owner answers for it. The forwarder sends a body no faster than
// the owner consumes it, and lets the owner send a streamed reply no faster than the client reads it. Knows
// nothing about routes.

import { discardBuffer } from "../../../../engine-wasm/host/runtime/discards.js";
import { HeaderBlock } from "../../../access/edge/headers.js";
import { within } from "../../../ground/jobs/deadline.js";
import { type HttpRequest, READ_HEADERS, type SentReply } from "../../transport/port.js";
import { carried, type ThreadChannel } from "../channel.js";
import type { FrontEndCalls, OwnerCalls } from "../messages.js";

/** Maximum bytes of a body in transit to the owner. */
const BODY_WINDOW_BYTES = 1024 * 1024;

type Replied = Parameters<FrontEndCalls["reply"]>[0];

export class Forwarder {
  readonly #owner: ThreadChannel<OwnerCalls>;
  readonly #open = new Map<number, Forwarded>();
  #lastId = 0;
  #onIdle: (() => void) | null = null;

  constructor(owner: ThreadChannel<OwnerCalls>) {
    this.#owner = owner;
  }

  /** Forwards a request and resolves with the owner's reply. Never rejects. */
  readonly handle = (request: HttpRequest): Promise<SentReply> => {
    const id = ++this.#lastId;
    const forwarded = new Forwarded(id, request, this.#owner, () => this.#over(id));
    this.#open.set(id, forwarded);
    return forwarded.reply;
  };

  /**
   * Resolves when every client has received its reply or disconnected, or after `ms` milliseconds. This may
   * be long after the owner has finished with these requests.
   */
  async drain(ms: number): Promise<void> {
    if (this.#open.size === 0) return;
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    await within(idle, ms, () => undefined);
  }

  /** Handlers for the owner's calls about forwarded requests. They ignore calls about finished requests. */
  get calls(): Pick<FrontEndCalls, "bodyTaken" | "reply" | "piece" | "replyEnded"> {
    return {
      bodyTaken: ({ id, bytes }) => this.#open.get(id)?.bodyTaken(bytes),
      reply: (reply) => this.#open.get(reply.id)?.replied(reply),
      piece: ({ id, bytes }) => this.#open.get(id)?.piece(bytes),
      replyEnded: ({ id, cut }) => this.#open.get(id)?.replyEnded(cut),
    };
  }

  #over(id: number): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#onIdle?.();
  }
}

/** One forwarded request. */
class Forwarded {
  readonly reply: Promise<SentReply>;
  readonly #id: number;
  readonly #owner: ThreadChannel<OwnerCalls>;
  readonly #onOver: () => void;
  #resolve: (reply: SentReply) => void = () => undefined;
  #bodyWindow = BODY_WINDOW_BYTES;
  #onBodyTaken: (() => void) | null = null;
  readonly #pieces: Uint8Array[] = [];
  #onPiece: (() => void) | null = null;
  #end: "none" | "complete" | "cut" = "none";
  #ended = false;

  /** `onOver` is called when the client has received the reply or disconnected. It may be called twice. */
  constructor(id: number, request: HttpRequest, owner: ThreadChannel<OwnerCalls>, onOver: () => void) {
    this.#id = id;
    this.#owner = owner;
    this.#onOver = onOver;
    this.reply = new Promise((resolve) => (this.#resolve = resolve));
    const { method, path, query, ip } = request;
    const headers = READ_HEADERS.map((name) => request.header(name));
    owner.tell("request", { id, method, path, query, ip, headers });
    request.signal.addEventListener("abort", () => {
      this.#abort();
      onOver();
    });
    void this.#sendBody(request);
  }

  bodyTaken(bytes: number): void {
    this.#bodyWindow += bytes;
    this.#onBodyTaken?.();
  }

  replied({ status, headers, body }: Replied): void {
    if (body !== null) this.#finish();
    const reply = { status, headers, body: body ?? this.#stream() };
    this.#resolve({ reply, id: "", common: HeaderBlock.none, finished: this.#onOver });
  }

  piece(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#onPiece?.();
  }

  replyEnded(cut: boolean): void {
    this.#end = cut ? "cut" : "complete";
    this.#onPiece?.();
  }

  async #sendBody(request: HttpRequest): Promise<void> {
    const id = this.#id;
    try {
      for await (const bytes of request.bodyStream()) {
        if (this.#ended) return;
        this.#bodyWindow -= bytes.byteLength;
        const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
        this.#owner.tell("body", { id, bytes: own }, [own.buffer as ArrayBuffer]);
        while (this.#bodyWindow <= 0 && !this.#ended)
          await new Promise<void>((resolve) => (this.#onBodyTaken = resolve));
      }
      if (!this.#ended) this.#owner.tell("bodyEnded", { id, error: null });
    } catch (error) {
      if (!this.#ended) this.#owner.tell("bodyEnded", { id, error: carried(error) });
    }
  }

  async *#stream(): AsyncGenerator<Uint8Array> {
    const id = this.#id;
    try {
      for (;;) {
        const bytes = this.#pieces.shift();
        if (bytes !== undefined) {
          yield bytes;
          this.#owner.tell("taken", { id, bytes: bytes.byteLength });
          discardBuffer(bytes.byteLength);
        } else if (this.#end === "complete") return;
        else if (this.#end === "cut") throw new Error("the reply breaks off");
        else await new Promise<void>((resolve) => (this.#onPiece = resolve));
      }
    } finally {
      this.#abort();
    }
  }

  /** Tells the owner that the reply is no longer needed. */
  #abort(): void {
    if (this.#ended) return;
    this.#owner.tell("aborted", this.#id);
    this.#finish();
    this.#end = "cut";
    this.#onPiece?.();
  }

  #finish(): void {
    this.#ended = true;
    this.#onBodyTaken?.();
  }
}
