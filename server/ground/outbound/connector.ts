// Opens a connection to the host in a tenant's URL, but only to an address that has been checked. The name is
// resolved here, and the connection goes to exactly the address that passed the check, so an attacker gains
// nothing by changing the DNS answer in between. A name may have both allowed and refused addresses (a
// network with NAT64 adds some to every name): refused addresses are skipped, and a name without any allowed
// address is refused. Every request gets its own connection, so a connection is never reused for a name it
// was not checked for. Knows nothing about HTTP.
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { FeedError } from "../errors.js";
import { within } from "../jobs/deadline.js";
import { type AddressRules, mayConnect, plainHost } from "./addresses.js";
import { connectionFailure, nameFailure, silenceFailure } from "./failures.js";

export interface Endpoint {
  /** The IP address to connect to. */
  readonly address: string;
  readonly port: number;
  /** The name or address that the server's certificate must contain; null without TLS. */
  readonly certifiedName: string | null;
}

/** The network operations that requests need. Tests replace them. */
export interface Network {
  /** Returns all addresses for a name, preferred ones first. */
  resolve(name: string): Promise<readonly string[]>;
  /** Starts connecting. The socket emits `connect` or, with TLS, `secureConnect`. */
  connect(endpoint: Endpoint): Socket;
}

export const INTERNET: Network = {
  resolve: async (name) => (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address),
  connect: ({ address, port, certifiedName }) => {
    if (certifiedName === null) return connectTcp({ host: address, port });
    // Node.js checks the certificate against `servername` or, if that is empty, against `host`. `servername`
    // must not be an IP address.
    return connectTls({ host: address, port, servername: isIP(certifiedName) === 0 ? certifiedName : "" });
  },
};

/** How a request reaches its host: the address rules, the network, and when to give up. */
export interface OutboundRoute {
  readonly rules: AddressRules;
  readonly network: Network;
  readonly silenceMsMax: number;
  readonly signal: AbortSignal;
}

/** Maximum number of addresses to try for one name. If these fail, the others are assumed to fail too. */
const ADDRESSES_TRIED_MAX = 8;

/** Opens a connection to the URL's host. The caller closes it. Throws FeedError, or the signal's reason. */
export async function connectTo(url: URL, route: OutboundRoute): Promise<Socket> {
  const host = plainHost(url.hostname);
  const addresses = (await addressesOf(host, route))
    .filter((address) => mayConnect(host, address, route.rules))
    .slice(0, ADDRESSES_TRIED_MAX);
  if (addresses.length === 0) {
    throw new FeedError(
      "SK-DS-403",
      `${host} does not resolve to a public address, so nothing was sent to it`,
    );
  }
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const msMax = route.silenceMsMax / addresses.length;
  let failure: unknown;
  for (const address of addresses) {
    const socket = route.network.connect({ address, port, certifiedName: isSecure ? host : null });
    // An error may occur before the request adds its own listener. Without any listener, the error would end
    // the thread.
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
