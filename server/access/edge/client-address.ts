// Determines the client's address. This is the connection's peer or, if the server is behind proxies, an
// entry of X-Forwarded-For. Anyone can write anything into that header, so an entry is believed only if its
// writer is trusted. The peer wrote the last entry, the proxy named by the last entry wrote the one before
// it, and so on.
import { BlockList, isIP } from "node:net";
import { integer, refuse, texts, type ValueReader, wrongType } from "../../ground/input/readers.js";

const PROXIES_MAX = 1000;
const HOPS_MAX = 100;

/** Number of chained proxies in front of the server, or the proxies' addresses and networks. */
export type ProxySetting = number | readonly string[];

/** Decides which writers of X-Forwarded-For are trusted. */
export class ProxyTrust {
  /** Trusts nobody: the peer is the client. */
  static readonly none = new ProxyTrust(0, () => false);
  /** The setting from which `of` builds an equal object, for example on another thread. */
  readonly setting: ProxySetting;
  readonly #trusts: (address: string, hop: number) => boolean;

  private constructor(setting: ProxySetting, trusts: (address: string, hop: number) => boolean) {
    this.setting = setting;
    this.#trusts = trusts;
  }

  /**
   * Builds the object from a `setting` of another ProxyTrust. Throws RangeError if the setting lists
   * something other than addresses and networks.
   */
  static of(setting: ProxySetting): ProxyTrust {
    if (typeof setting === "number") return ProxyTrust.ofHops(setting);
    const trust = ProxyTrust.ofNetworks(setting);
    if (trust instanceof ProxyTrust) return trust;
    throw new RangeError(`"${trust.wrong}" is neither an address nor a network`);
  }

  /** Trusts `hops` chained proxies in front of the server, whatever their addresses. */
  static ofHops(hops: number): ProxyTrust {
    return hops === 0 ? ProxyTrust.none : new ProxyTrust(hops, (_, hop) => hop < hops);
  }

  /**
   * Trusts these addresses and networks. If some entries are neither, returns the first of them as `wrong`.
   */
  static ofNetworks(networks: readonly string[]): ProxyTrust | { readonly wrong: string } {
    const list = new BlockList();
    for (const network of networks) if (!addNetwork(list, network)) return { wrong: network };
    return new ProxyTrust(networks, (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4"));
  }

  /**
   * The client's address in canonical form. Reads the header from its end for as long as each entry's writer
   * is trusted. Stops at the start of the header or at an entry that is not an address, and returns the last
   * valid address.
   */
  clientAddress(peer: string, forwardedFor: string): string {
    let client = plainAddress(peer) ?? peer;
    let rest = forwardedFor;
    for (let hop = 0; rest !== "" && this.#trusts(client, hop); ) {
      const comma = rest.lastIndexOf(",");
      const entry = rest.slice(comma + 1).trim();
      rest = rest.slice(0, Math.max(0, comma));
      if (entry === "") continue;
      const address = addressOf(entry);
      if (address === null) break;
      client = address;
      hop++;
    }
    return client;
  }
}

/** Reads `trust_proxy` from the configuration file. */
export function proxyTrust(): ValueReader<ProxyTrust> {
  const takes = "true, false, a number of proxies, or an array of addresses and networks";
  const hops = integer(0, HOPS_MAX);
  const list = texts(PROXIES_MAX, 100);
  return {
    takes,
    schema: { type: ["boolean", "integer", "array"] },
    read(value, path, rules) {
      if (typeof value === "boolean") return ProxyTrust.ofHops(value ? 1 : 0);
      if (typeof value === "number") return ProxyTrust.ofHops(hops.read(value, path, rules));
      if (!Array.isArray(value)) return wrongType(path, takes, value, rules);
      const trust = ProxyTrust.ofNetworks(list.read(value, path, rules));
      if (trust instanceof ProxyTrust) return trust;
      const why = `must name addresses and networks such as 10.0.0.0/8 or fd00::/8, not "${trust.wrong}"`;
      return refuse(path, why, rules);
    },
  };
}

/**
 * Returns the unit for per-address limits: an IPv4 address, or an IPv6 address's /64 network, which usually
 * belongs to one customer. Requires an address in canonical form.
 */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = new Array<string>(8 - first.length - last.length).fill("0");
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":")}::/64`;
}

/**
 * Parses an X-Forwarded-For entry: an address, `1.2.3.4:5678`, `[2001:db8::1]` or `[2001:db8::1]:443`.
 * Returns null for anything else.
 */
function addressOf(entry: string): string | null {
  const ported = /^(?:\[([\da-f:.]+(?:%[^\]]*)?)\]|(\d+\.\d+\.\d+\.\d+)(?=:))(?::\d{1,5})?$/i.exec(entry);
  const bracketed = ported?.[1];
  if (bracketed !== undefined && isIP(bracketed) !== 6) return null;
  return plainAddress(bracketed ?? ported?.[2] ?? entry);
}

/**
 * Returns an address in canonical form: short, lower case and without a zone; ::ffff:1.2.3.4 becomes IPv4.
 * Null if the text is not an address.
 */
function plainAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 0) return null;
  if (family === 4) return text;
  const short = new URL(`http://[${text.split("%", 1)[0]}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function addNetwork(list: BlockList, network: string): boolean {
  const [text = "", prefix, ...more] = network.split("/");
  const address = text.includes("%") ? null : plainAddress(text);
  if (address === null || more.length > 0) return false;
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  const bits = family === "ipv6" ? 128 : 32;
  if (prefix === undefined) list.addAddress(address, family);
  else if (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
    list.addSubnet(address, Number(prefix), family);
  else return false;
  return true;
}
