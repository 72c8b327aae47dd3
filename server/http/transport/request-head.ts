// Checks the head of a request as strictly as RFC 9110 and RFC 9112 ask. Both HTTP libraries let heads pass
// in which two readers can see two different requests, for example two Host lines or `Transfer-Encoding:
// identity, chunked`. Behind a proxy that reads them differently, the rest of one request would become the
// next one (request smuggling). Depends on neither library.
import { SkeinError } from "../../ground/errors.js";

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const DIGITS = /^\d+$/;
const HOST = /^(?:\[[\da-f.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
/** The only character that uWebSockets.js accepts in values although RFC 9110 does not allow it. */
const DELETE = "\x7f";
const NUMBER_SIGN = 0x23;

/** Collects the lines of a head, then tells what is wrong with it. Reusable after `clear`. */
export class RequestHead {
  #hosts = 0;
  #host = "";
  #lengths = 0;
  #length = "";
  #codings: string | null = null;
  #connection = "";
  #expectsMore = false;
  #hasDelete = false;

  clear(): void {
    this.#hosts = 0;
    this.#host = "";
    this.#lengths = 0;
    this.#length = "";
    this.#codings = null;
    this.#connection = "";
    this.#expectsMore = false;
    this.#hasDelete = false;
  }

  /** Takes one header line. `name` must be in lower case. */
  add(name: string, value: string): void {
    if (value.includes(DELETE)) this.#hasDelete = true;
    switch (name) {
      case "host":
        this.#hosts++;
        this.#host = value;
        break;
      case "content-length":
        this.#lengths++;
        this.#length = value;
        break;
      case "transfer-encoding":
        this.#codings = this.#codings === null ? value : `${this.#codings},${value}`;
        break;
      case "connection":
        this.#connection += `,${value}`;
        break;
      case "expect":
        if (value.toLowerCase() !== "100-continue") this.#expectsMore = true;
        break;
    }
  }

  /** True if the body comes in chunks, so that the head does not tell its length. */
  get isChunked(): boolean {
    return this.#codings !== null;
  }

  /** True if the client sends no further request on this connection. */
  get isLast(): boolean {
    return this.#connection !== "" && CLOSE.test(this.#connection);
  }

  /**
   * Returns why the request must be refused, or null. A refused request must not reach a route, and its
   * connection must be closed: it is unclear where the next request begins.
   */
  fault(method: string, target: string, version: string): SkeinError | null {
    if (version !== "1.1" && version !== "1.0")
      return malformed("the server speaks only HTTP/1.1 and HTTP/1.0");
    if (method === "CONNECT") return malformed("the server is not a proxy");
    if (!TOKEN.test(method)) return malformed("the method is not valid");
    if (!isTarget(target)) {
      return malformed("the request target has a character that must be percent-encoded");
    }
    if (this.#hasDelete) return malformed("a header has a control character");
    if (this.#hosts > 1) return malformed("the request has more than one Host header");
    if (this.#hosts === 0 && version === "1.1") return malformed("the request has no Host header");
    if (!HOST.test(this.#host)) return malformed("the Host header is not valid");
    if (this.#lengths > 1) return malformed("the request has more than one Content-Length header");
    if (this.#lengths === 1 && !isLength(this.#length)) {
      return malformed("the Content-Length header is not a whole number");
    }
    if (this.#codings !== null) {
      if (this.#lengths > 0) return malformed("the request has both Content-Length and Transfer-Encoding");
      if (version === "1.0") return malformed("HTTP/1.0 has no Transfer-Encoding");
      const fault = faultOfCodings(this.#codings);
      if (fault !== null) return fault;
    }
    return this.#expectsMore
      ? new SkeinError("SK-SYS-417", "the server meets no expectation except 100-continue")
      : null;
  }
}

function faultOfCodings(list: string): SkeinError | null {
  const codings = list.split(",").map((coding) => coding.trim().toLowerCase());
  if (codings.indexOf("chunked") !== codings.length - 1) {
    return malformed("the last transfer coding must be chunked, and no other one may be");
  }
  if (codings.length === 1) return null;
  return new SkeinError("SK-SYS-501", "chunked is the only transfer coding that the server knows");
}

/**
 * True if the target has only visible ASCII characters and no fragment. Characters such as `|` and `"` do not
 * belong into a URL either, but browsers send them as they are, and every reader sees the same target.
 */
function isTarget(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x21 || code > 0x7e || code === NUMBER_SIGN) return false;
  }
  return true;
}

function isLength(text: string): boolean {
  return DIGITS.test(text) && Number.isSafeInteger(Number(text));
}

function malformed(why: string): SkeinError {
  return new SkeinError("SK-SYS-400", why);
}
