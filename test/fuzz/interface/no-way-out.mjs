// Preloaded into the servers of the interface fuzzer (node --import). Whatever a request makes the server do,
// none of its threads can resolve a name or open a connection that leaves loopback. The product itself is
// unaware of it.
import dns from "node:dns";
import promises from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { BlockList, isIP, Socket } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function refusal(code, what) {
  return Object.assign(new Error(`${code}: ${what} is off loopback`), { code });
}

function isInside(address) {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
}

const connect = Socket.prototype.connect;
Socket.prototype.connect = function (...given) {
  const [first] = Array.isArray(given[0]) ? given[0] : given;
  // A connection with a `path` is a local pipe, and one without a host goes to localhost.
  const host =
    typeof first === "object" && first !== null ? (first.path ?? first.host ?? "localhost") : given[1];
  const isPipe = typeof first === "object" && first !== null && first.path !== undefined;
  if (isPipe || host === "localhost" || isInside(host)) return connect.apply(this, given);
  process.nextTick(() => this.destroy(refusal("ECONNREFUSED", host)));
  return this;
};

const { lookup } = dns;
dns.lookup = (name, ...given) => {
  if (name === "localhost" || isInside(name)) lookup(name, ...given);
  else process.nextTick(given.at(-1), refusal("ENOTFOUND", name));
};
const { lookup: resolve } = promises;
promises.lookup = async (name, ...given) => {
  if (name === "localhost" || isInside(name)) return resolve(name, ...given);
  throw refusal("ENOTFOUND", name);
};
syncBuiltinESMExports();
