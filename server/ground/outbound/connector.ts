// Opens a connection to the host of a URL that a tenant named, but only to an address that was checked: the name is
// resolved here, and the very address that passed is the one connected to, so an answer of the name's server that
// changes between check and connection gains nothing. A name may have refused addresses beside allowed ones (a network
// with NAT64 adds some to every name): those are left out, and a name that has no other is refused.
// Knows nothing of HTTP. Every request gets a connection of its own, so none is used for a name it was not checked for.
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { FeedError } from "../errors.js";
import { within } from "../jobs/deadline.js";
import { type AddressRules, mayConnect, plainHost } from "./addresses.js";
import { connectionFailure, nameFailure, silenceFailure } from "./failures.js";

export interface Endpoint {
  /** An IP address; the one and only that may be connected to. */
  readonly address: string;
  readonly port: number;
  /** The name or address that the server's certificate must hold; null for a connection without TLS. */
  readonly certifiedName: string | null;
}

/** The two ways in which a request touches the network. */
export interface Network {
  /** All addresses of a name, the preferred one first. */
  resolve(name: string): Promise<readonly string[]>;
  /** Begins to connect. The socket reports `connect` or, with TLS, `secureConnect`. */
  connect(endpoint: Endpoint): Socket;
}

export const INTERNET: Network = {
  resolve: async (name) => (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address),
  connect: ({ address, port, certifiedName }) => {
    if (certifiedName === null) return connectTcp({ host: address, port });
    // The certificate is checked against `servername`, and against `host` where that is empty: an address is no server name.
    return connectTls({ host: address, port, servername: isIP(certifiedName) === 0 ? certifiedName : "" });
  },
};

/** Whom a request may reach, through what, and for how long it waits. */
export interface OutboundRoute {
  readonly rules: AddressRules;
  readonly network: Network;
  readonly silenceMsMax: number;
  readonly signal: AbortSignal;
}

/** A name with more addresses than this is no better served by trying them all. */
const ADDRESSES_TRIED_MAX = 8;

/** An open connection to the URL's host, which the caller closes. Throws FeedError, or the signal's reason. */
export async function connectTo(url: URL, route: OutboundRoute): Promise<Socket> {
  const host = plainHost(url.hostname);
  const addresses = (await addressesOf(host, route))
    .filter((address) => mayConnect(host, address, route.rules))
    .slice(0, ADDRESSES_TRIED_MAX);
  if (addresses.length === 0) {
    throw new FeedError("SK-DS-403", `${host} does not lead to a public address, so nothing was sent to it`);
  }
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const msMax = route.silenceMsMax / addresses.length;
  let failure: unknown;
  for (const address of addresses) {
    const socket = route.network.connect({ address, port, certifiedName: isSecure ? host : null });
    // An error may follow at once, before the request listens for it; without a listener it would end the thread.
    socket.on("error", () => undefined);
    try {
      const late = (): never => {
        throw silenceFailure(host, "accept the connection", route.silenceMsMax);
      };
      await within(once(socket, isSecure ? "secureConnect" : "connect"), msMax, late, route.signal);
      return socket;
    } catch (error) {
      socket.destroy();
      route.signal.throwIfAborted();
      failure = error;
    }
  }
  throw connectionFailure(host, failure);
}

async function addressesOf(host: string, route: OutboundRoute): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const late = (): never => {
    throw nameFailure(host, undefined);
  };
  try {
    return await within(route.network.resolve(host), route.silenceMsMax, late, route.signal);
  } catch (error) {
    route.signal.throwIfAborted();
    throw error instanceof FeedError ? error : nameFailure(host, error);
  }
}
