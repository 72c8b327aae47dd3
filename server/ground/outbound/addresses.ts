// Decides which addresses requests to a tenant's host may go to: global unicast addresses, and any others
// that the operator allows. All other addresses (the machine itself, its network, a cloud's metadata service)
// are refused. This file only judges addresses and URLs; it must not resolve names or open connections.
import { BlockList, isIP, isIPv6 } from "node:net";

export interface AddressRules {
  /** True to allow every address. */
  readonly allowPrivate: boolean;
  /** Host names and addresses allowed regardless of what they resolve to. */
  readonly allowHosts: readonly string[];
}

/**
 * IPv4 addresses that are not global unicast (IANA's registry of special-purpose addresses), and Azure's
 * metadata service.
 */
const REFUSED_IPV4 = networks("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);

/**
 * All global unicast IPv6 addresses are in this range. IPv6 addresses that embed an IPv4 address (mapped,
 * compatible, NAT64) are not.
 */
const GLOBAL_IPV6 = networks("ipv6", ["2000::/3"]);

/**
 * Addresses in 2000::/3 that are refused nevertheless: protocols such as Teredo, two ranges for
 * documentation, and 6to4, which embeds an IPv4 address.
 */
const REFUSED_IPV6 = networks("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

function networks(family: "ipv4" | "ipv6", subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address, prefix] = subnet.split("/") as [string, string];
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/**
 * True if `address` is global unicast. False if it has a zone, such as fe80::1%eth0, or is not an address.
 */
export function isPublic(address: string): boolean {
  if (address.includes("%")) return false;
  const family = isIP(address);
  if (family === 4) return !REFUSED_IPV4.check(address, "ipv4");
  return family === 6 && GLOBAL_IPV6.check(address, "ipv6") && !REFUSED_IPV6.check(address, "ipv6");
}

/** True if a request to `host` may connect to `address`, one of the host's addresses. */
export function mayConnect(host: string, address: string, rules: AddressRules): boolean {
  return isPublic(address) || isNamed(host, rules) || isNamed(address, rules);
}

function isNamed(host: string, rules: AddressRules): boolean {
  return rules.allowPrivate || rules.allowHosts.some((allowed) => plainHost(allowed) === plainHost(host));
}

/** A host in canonical form: `[::1]` and `0:0::1` become `::1`, `Shop.Example.` becomes `shop.example`. */
export function plainHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (!isIPv6(bare) || bare.includes("%")) return bare.toLowerCase();
  return new URL(`http://[${bare}]`).hostname.slice(1, -1);
}

/**
 * Why a request to `url` is refused before its host is resolved, worded to follow a member's name ("url must
 * be ..."). Null if it is not refused. The host may still resolve to a refused address, which connectTo()
 * checks.
 */
export function hostProblem(url: string, rules: AddressRules): string | null {
  if (!URL.canParse(url)) return "must be an absolute URL that begins with http:// or https://";
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return "must begin with http:// or https://";
  const host = plainHost(hostname);
  if (host === "") return "must name a host";
  if (isNamed(host, rules)) return null;
  const isLocal = host === "localhost" || host.endsWith(".localhost");
  const isRefused = isIP(host) !== 0 && !isPublic(host);
  return isLocal || isRefused ? `must resolve to a public address, not to ${host}` : null;
}
