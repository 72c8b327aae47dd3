// A query that the server sends to itself: a request without a connection, whose body is there from the
// beginning. Its sender takes the reply from the service.
import { RequestLife } from "../ground/jobs/request-life.js";
import type { HttpRequest, ReadHeader } from "./transport/port.js";

/** A client on this machine, as far as limits by address are concerned. */
const OWN_ADDRESS = "127.0.0.1";

export class OwnQuery implements HttpRequest {
  readonly method = "POST";
  readonly query = "";
  readonly ip = OWN_ADDRESS;
  readonly aborted = false;
  readonly life = new RequestLife();
  readonly path: string;
  readonly #headers: Readonly<Partial<Record<ReadHeader, string>>>;
  readonly #body: Uint8Array;

  constructor(path: string, headers: Readonly<Partial<Record<ReadHeader, string>>>, body: Uint8Array) {
    this.path = path;
    this.#headers = headers;
    this.#body = body;
  }

  header(name: ReadHeader): string {
    return this.#headers[name] ?? "";
  }

  /** Never aborts. */
  get signal(): AbortSignal {
    return new AbortController().signal;
  }

  /** The body belongs to the server, not to the tenant. */
  chargeTo(_tenant: number): void {}

  body(): Uint8Array {
    return this.#body;
  }

  async *bodyStream(): AsyncGenerator<Uint8Array> {
    yield this.#body;
  }
}
