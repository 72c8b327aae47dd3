// One hostile client: connects, sends its request in its own manner, and tells how that ended.
import { connect, type Socket, type TcpSocketConnectOpts } from "node:net";
import { ReplyReader } from "../../../bench/load/reply-reader.js";
import type { Manner } from "./attack.js";

export interface Ending {
  /**
   * `answered`: a whole reply; `cut`: the server closed the connection in the middle of a reply; `closed`: it
   * did so without a reply; `left`: the client left as planned; `overdue`: it gave up waiting.
   */
  readonly how: "answered" | "cut" | "closed" | "left" | "overdue";
  /** 0 without a reply. */
  readonly status: number;
  readonly hasRetryAfter: boolean;
  /** Milliseconds from the last byte sent to the end. */
  readonly ms: number;
}

/** A waiting client gives up after this many times the bound: late enough to learn how long it takes. */
const PATIENCE = 2;
/** Time (ms) in which the kernel must accept a request. */
const SEND_MS_MAX = 60_000;
const TICK_MS = 1_000;

/** Resolves when the client has been answered, cut off or has left. Never rejects. */
export function beHostile(
  to: { readonly host: string; readonly port: number },
  request: Buffer,
  manner: Manner,
  endMsMax: number,
): Promise<Ending> {
  return new Promise((resolve) => {
    const reply = new ReplyReader();
    const timers = new Set<NodeJS.Timeout>();
    const socket = connect({ host: to.host, port: to.port, ...sippingOf(manner, reply) });
    let sentAt = performance.now();
    let ended = false;
    const end = (how: Ending["how"]): void => {
      if (ended) return;
      ended = true;
      for (const timer of timers) clearTimeout(timer);
      socket.destroy();
      const hasRetryAfter = /\r\nretry-after: *\d/i.test(reply.head);
      resolve({ how, status: reply.status, hasRetryAfter, ms: performance.now() - sentAt });
    };
    const after = (ms: number, act: () => void): void => void timers.add(setTimeout(act, ms));
    const isGone = (): void => end(reply.head === "" ? "closed" : "cut");
    socket.on("data", (piece: Buffer) => {
      if (reply.receive(piece)) end("answered");
    });
    socket.on("error", isGone);
    socket.on("close", isGone);
    const sending = setTimeout(() => end("overdue"), SEND_MS_MAX);
    timers.add(sending);
    send(socket, request, manner, timers, () => {
      clearTimeout(sending);
      sentAt = performance.now();
      if (manner.kind === "breaks off") end("left");
      else if (manner.kind === "leaves") after(manner.afterMs, () => end("left"));
      else if (manner.kind === "sips" || manner.kind === "dribbles") after(manner.holdMs, () => end("left"));
      else after(PATIENCE * endMsMax, () => end("overdue"));
    });
  });
}

/** Sends what the manner sends, then calls `sent`. */
function send(
  socket: Socket,
  request: Buffer,
  manner: Manner,
  timers: Set<NodeJS.Timeout>,
  sent: () => void,
): void {
  if (manner.kind === "dribbles") {
    let at = 0;
    const tick = setInterval(() => {
      if (at >= request.length) return;
      socket.write(request.subarray(at, at + manner.bytesPerSecond));
      at += manner.bytesPerSecond;
    }, TICK_MS);
    timers.add(tick);
    sent();
    return;
  }
  const share = manner.kind === "stalls" || manner.kind === "breaks off" ? manner.share : 1;
  socket.write(request.subarray(0, Math.floor(request.length * share)), (error) => {
    if (!error) sent();
  });
}

/** For a client that sips: reads into a buffer of that many bytes, and no more until the next second. */
function sippingOf(manner: Manner, reply: ReplyReader): Pick<TcpSocketConnectOpts, "onread"> {
  if (manner.kind !== "sips") return {};
  return {
    onread: {
      buffer: Buffer.alloc(Math.max(1, manner.bytesPerSecond)),
      callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
        reply.receive(Buffer.from(buffer.subarray(0, bytes)));
        if (manner.bytesPerSecond > 0) setTimeout(() => this.resume(), TICK_MS).unref();
        return false;
      },
    } as TcpSocketConnectOpts["onread"],
  };
}
