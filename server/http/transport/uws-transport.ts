// The HTTP transport on uWebSockets.js: listening, certificates and connections. Only this file and
// uws-exchange.ts, which handles a request, use the library (load-uws.ts loads it).

import type { TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { CertificatePair } from "../../access/edge/certificate.js";
import { HeadReader } from "./head-reader.js";
import type { Uws } from "./load-uws.js";
import type { Closing, ListenOptions, OwnListener } from "./port.js";
import { UwsExchange } from "./uws-exchange.js";

/**
 * Listening options that allow or forbid other sockets on the same port (LIBUS_LISTEN_DEFAULT,
 * LIBUS_LISTEN_EXCLUSIVE_PORT).
 */
const SHARED_PORT = 0;
const EXCLUSIVE_PORT = 1;

/** Methods missing from the library's typings. */
interface UntypedApp {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): void;
  /** Returns the handle by which other apps refer to this app. */
  getDescriptor(): unknown;
  /** Passes the connections that this app accepts from now on to the app behind `descriptor`. */
  addChildAppDescriptor(descriptor: unknown): void;
  removeChildAppDescriptor(descriptor: unknown): void;
}
type App = UntypedApp & Pick<TemplatedApp, "any" | "close" | "filter">;

/** Starts listening with uWebSockets.js. Rejects if the address cannot be used. */
export async function listenUws(uws: Uws, options: ListenOptions): Promise<OwnListener> {
  const apps = new Apps(uws, options);
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    const sharing = options.isShared ? SHARED_PORT : EXCLUSIVE_PORT;
    apps.acceptor.listen(options.host, options.port, sharing, resolve);
  });
  if (socket === false) {
    throw new Error(`cannot listen on ${options.host}:${options.port}: the address is in use or not allowed`);
  }
  const port = uws.us_socket_local_port(socket);
  let accepting = true;
  const stopAccepting = (): void => {
    apps.closing.now = true;
    if (accepting) uws.us_listen_socket_close(socket);
    accepting = false;
  };
  const close = async (): Promise<void> => {
    stopAccepting();
    await yieldToEventLoop(); // replies handed to the library are not sent until the end of the turn
    apps.close();
  };
  const cut = (): void => {
    stopAccepting();
    apps.close();
  };
  return {
    port,
    get connections() {
      return apps.connections;
    },
    stopAccepting,
    close,
    cut,
    useCertificate: (pair) => apps.use(pair),
  };
}

/**
 * The apps behind one listener. An app's certificate cannot be changed, so a new certificate needs a new app.
 * The first app continues to accept connections and hands them to the newest app. No connection is refused,
 * and open connections stay with their app.
 */
class Apps {
  readonly acceptor: App;
  readonly closing: Closing = { now: false };
  /** Number of open connections of all apps. */
  connections = 0;
  readonly #uws: Uws;
  readonly #options: ListenOptions;
  readonly #reader = new HeadReader();
  /** All apps that may have connections, newest last. */
  readonly #all: App[];
  #certificate: CertificatePair | null;

  constructor(uws: Uws, options: ListenOptions) {
    this.#uws = uws;
    this.#options = options;
    this.#certificate = options.certificate;
    this.acceptor = this.#make(options.certificate);
    this.#all = [this.acceptor];
  }

  /** Uses the certificate for new connections. Throws if the library does not accept it. */
  use(pair: CertificatePair): void {
    const { certificate, key } = this.#certificate ?? {};
    if (pair.certificate === certificate && pair.key === key) return;
    const newest = this.#make(pair);
    const before = this.#all.at(-1)!;
    if (before !== this.acceptor) this.acceptor.removeChildAppDescriptor(before.getDescriptor());
    this.acceptor.addChildAppDescriptor(newest.getDescriptor());
    this.#all.push(newest);
    this.#certificate = pair;
  }

  /** Closes all connections. */
  close(): void {
    for (const app of this.#all) app.close();
  }

  /** Called with 1 for each new connection, and with -1 for each closed one. */
  readonly #counted = (_response: unknown, change: number): void => {
    this.connections += change;
  };

  /** Creates an app. The library reads the certificate files and accepts only TLS 1.2 and later. */
  #make(pair: CertificatePair | null): App {
    const app =
      pair === null
        ? this.#uws.App()
        : this.#uws.SSLApp({ cert_file_name: pair.files.certificate, key_file_name: pair.files.key });
    app.filter(this.#counted);
    app.any("/*", (response, request) => {
      new UwsExchange(response, request, this.#reader, this.#options, this.closing);
    });
    return app as unknown as App;
  }
}
