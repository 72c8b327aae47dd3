// Reads one HTTP reply from the pieces that a socket receives: its head, and where its body ends. Does not
// keep or parse the body.

const HEADERS_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

export class ReplyReader {
  /** The status line and the headers; empty while they are incomplete. */
  head = "";
  bodyBytes = 0;
  #begun: Buffer = Buffer.alloc(0);
  /** Bytes still to arrive; Infinity if the body is chunked. */
  #missing = Number.POSITIVE_INFINITY;
  #tail: Buffer = Buffer.alloc(0);

  /** 0 while the head is incomplete. */
  get status(): number {
    return Number(this.head.slice(9, 12));
  }

  /** Takes the next piece. Returns true once the whole reply has arrived. */
  receive(piece: Buffer): boolean {
    if (this.head !== "") return this.#receiveBody(piece);
    this.#begun = this.#begun.length === 0 ? piece : Buffer.concat([this.#begun, piece]);
    const end = this.#begun.indexOf(HEADERS_END);
    if (end < 0) return false;
    this.head = this.#begun.toString("latin1", 0, end + 2);
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(this.head);
    if (length !== null) this.#missing = Number(length[1]);
    return this.#receiveBody(this.#begun.subarray(end + 4));
  }

  #receiveBody(bytes: Buffer): boolean {
    this.bodyBytes += bytes.length;
    if (this.#missing !== Number.POSITIVE_INFINITY) {
      this.#missing -= bytes.length;
      return this.#missing <= 0;
    }
    const joined = Buffer.concat([this.#tail, bytes]);
    this.#tail = joined.subarray(Math.max(0, joined.length - LAST_CHUNK.length));
    return this.#tail.equals(LAST_CHUNK);
  }
}
