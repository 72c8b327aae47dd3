// A naive reader of HTTP/1.1 requests: where each one ends according to RFC 9112, and where the bytes break
// its rules. Reads the whole connection at once, as latin1 text. Where the RFC lets a server choose, this
// reader is strict (a line ends with CRLF only), except for line ends before a request and several spaces in
// its first line.

/** What a server may refuse although it breaks no rule. */
export type Feature = "chunks" | "HTTP/1.0" | "line ends before" | "several spaces" | "another target form";

export interface FramedRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
}

export interface Framing {
  /** The complete requests before the end, the fault, or the request that is still incomplete. */
  readonly requests: readonly FramedRequest[];
  /** The rule that the bytes after `requests` break; null if they break none so far. */
  readonly fault: string | null;
  readonly features: ReadonlySet<Feature>;
  /** True if the last request asked to close the connection, so that later bytes do not count. */
  readonly closes: boolean;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const REQUEST_LINE = new RegExp(`^(${TOKEN})( +)([!"$-~]+)( +)HTTP/(\\d)\\.(\\d)$`);
const HEADER_LINE = new RegExp(`^(${TOKEN}):[ \\t]*([\\t\\x20-\\x7e\\x80-\\xff]*)$`);
const HOST = /^(\[[0-9A-Fa-f:.]+\]|([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f][0-9A-Fa-f])*)(:[0-9]*)?$/;
const CHUNK = new RegExp(`^([0-9A-Fa-f]+)(;${TOKEN}(=(${TOKEN}|"[^"\\\\\\x00-\\x1f\\x7f]*"))?)*$`);

class Fault extends Error {}
class Incomplete extends Error {}

/** The requests that a client sends with these bytes on one connection. */
export function framingOf(bytes: string): Framing {
  const reader = new Reader(bytes);
  const requests: FramedRequest[] = [];
  let fault: string | null = null;
  let closes = false;
  try {
    while (!reader.isAtEnd && !closes) {
      const { isLast, ...request } = reader.request();
      requests.push(request);
      closes = isLast;
    }
  } catch (error) {
    if (error instanceof Fault) fault = error.message;
    else if (!(error instanceof Incomplete)) throw error;
  }
  return { requests, fault, features: reader.features, closes };
}

class Reader {
  readonly features = new Set<Feature>();
  readonly #bytes: string;
  #at = 0;

  constructor(bytes: string) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  request(): FramedRequest & { isLast: boolean } {
    while (!this.isAtEnd && "\r\n".includes(this.#bytes[this.#at]!)) {
      this.features.add("line ends before");
      this.#at++;
    }
    if (!this.#bytes.includes("\r\n\r\n", this.#at)) throw new Incomplete(); // a head is judged as a whole
    const { method, target, version } = this.#requestLine();
    const headers = this.#headers();
    const values = (name: string) =>
      headers.filter((header) => header.name === name).map(({ value }) => value);
    const hosts = values("host");
    if (hosts.length > 1) throw new Fault("more than one Host");
    if (hosts.length === 0 && version === "1.1") throw new Fault("no Host");
    if (hosts.some((host) => !HOST.test(host))) throw new Fault("an invalid Host");
    const body = this.#body(values("content-length"), values("transfer-encoding"), version);
    if (values("expect").some((value) => value.toLowerCase() !== "100-continue")) {
      throw new Fault("an unknown expectation");
    }
    const options = values("connection").flatMap((value) => value.split(",").map((item) => item.trim()));
    const has = (option: string) => options.some((item) => item.toLowerCase() === option);
    const isLast = has("close") || (version === "1.0" && !has("keep-alive"));
    return { method, target, body, isLast };
  }

  #requestLine(): { method: string; target: string; version: string } {
    const match = REQUEST_LINE.exec(this.#line());
    if (match === null) throw new Fault("an invalid request line");
    const [, method = "", space = "", target = "", space2 = "", major = "", minor = ""] = match;
    if (space + space2 !== "  ") this.features.add("several spaces");
    if (method === "CONNECT") throw new Fault("CONNECT");
    const version = `${major}.${minor}`;
    if (version === "1.0") this.features.add("HTTP/1.0");
    else if (version !== "1.1") throw new Fault("an unknown version");
    if (!target.startsWith("/")) {
      if (target !== "*" && !/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(target))
        throw new Fault("an invalid target");
      this.features.add("another target form");
    }
    return { method, target, version };
  }

  /** Header lines up to the empty line, which also end a body in chunks. Names are in lower case. */
  #headers(): { name: string; value: string }[] {
    const headers = [];
    for (;;) {
      const line = this.#line();
      if (line === "") return headers;
      if (line.startsWith(":")) throw new Fault("a header without a name");
      const match = HEADER_LINE.exec(line);
      if (match === null) throw new Fault("an invalid header line");
      headers.push({ name: match[1]!.toLowerCase(), value: match[2]!.replace(/[ \t]+$/, "") });
    }
  }

  #body(lengths: string[], codings: string[], version: string): string {
    if (codings.length === 0) {
      if (lengths.length > 1) throw new Fault("more than one Content-Length");
      if (lengths.length === 0) return "";
      if (!/^[0-9]+$/.test(lengths[0]!) || Number(lengths[0]) > Number.MAX_SAFE_INTEGER) {
        throw new Fault("an invalid Content-Length");
      }
      return this.#take(Number(lengths[0]));
    }
    if (lengths.length > 0) throw new Fault("Content-Length and Transfer-Encoding");
    if (version === "1.0") throw new Fault("Transfer-Encoding in HTTP/1.0");
    if (codings.join(",").toLowerCase() !== "chunked") throw new Fault("an unknown transfer coding");
    this.features.add("chunks");
    return this.#chunks();
  }

  #chunks(): string {
    let body = "";
    for (;;) {
      const match = CHUNK.exec(this.#line());
      if (match === null) throw new Fault("an invalid chunk size");
      const size = Number.parseInt(match[1]!, 16);
      if (size > Number.MAX_SAFE_INTEGER) throw new Fault("a chunk size without bounds");
      if (size === 0) break;
      body += this.#take(size);
      const end = this.#bytes.slice(this.#at, this.#at + 2);
      if (!"\r\n".startsWith(end)) throw new Fault("no line end after a chunk");
      this.#take(2);
    }
    this.#headers(); // trailers
    return body;
  }

  /** The text up to the next CRLF. Lines end in nothing else. */
  #line(): string {
    const end = this.#bytes.indexOf("\r\n", this.#at);
    if (end < 0) throw new Incomplete();
    const line = this.#bytes.slice(this.#at, end);
    this.#at = end + 2;
    return line;
  }

  #take(length: number): string {
    if (this.#at + length > this.#bytes.length) throw new Incomplete();
    this.#at += length;
    return this.#bytes.slice(this.#at - length, this.#at);
  }
}
