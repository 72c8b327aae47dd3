// The client's address behind proxies, and which addresses count as a single client.
import { describe, expect, test } from "vitest";
import {
  clientNetwork,
  type ProxyTrust,
  proxyTrust,
} from "../../../../../server/access/edge/client-address.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";

const reader = proxyTrust();
const trust = (setting: unknown): ProxyTrust =>
  reader.read(setting, "trust_proxy", { limits: DEFAULT_LIMITS, code: "SK-SYS-400" });

describe("the client's address", () => {
  const NETS = ["10.0.0.0/8", "192.0.2.1", "fd00::/8", "2001:db8::7"];
  test.each<[unknown, string, string, string]>([
    // No proxy is trusted: the header is ignored.
    [false, "203.0.113.9", "1.1.1.1", "203.0.113.9"],
    [0, "203.0.113.9", "1.1.1.1", "203.0.113.9"],
    [[], "203.0.113.9", "1.1.1.1", "203.0.113.9"],
    // n trusted proxies: the client is the nth entry from the end.
    [true, "127.0.0.1", "1.1.1.1, 2.2.2.2", "2.2.2.2"],
    [1, "127.0.0.1", "1.1.1.1, 2.2.2.2", "2.2.2.2"],
    [2, "127.0.0.1", "6.6.6.6, 1.1.1.1, 2.2.2.2", "1.1.1.1"],
    [2, "127.0.0.1", "2.2.2.2", "2.2.2.2"],
    [3, "127.0.0.1", "", "127.0.0.1"],
    // Known proxies: the client is the last entry that is not a known proxy.
    [NETS, "10.1.2.3", "6.6.6.6, 1.1.1.1", "1.1.1.1"],
    [NETS, "10.1.2.3", "6.6.6.6, 1.1.1.1, 192.0.2.1, 10.9.9.9", "1.1.1.1"],
    [NETS, "10.1.2.3", "10.5.5.5, 192.0.2.1", "10.5.5.5"],
    [NETS, "8.8.8.8", "1.1.1.1", "8.8.8.8"],
    [NETS, "192.0.2.2", "1.1.1.1", "192.0.2.2"],
    [NETS, "fd00::1", "1.1.1.1, 2001:db8::7", "1.1.1.1"],
    [NETS, "fd00::1", "2001:db8::8, 2001:0DB8:0:0::7", "2001:db8::8"],
    [NETS, "::ffff:10.1.2.3", "::ffff:1.1.1.1", "1.1.1.1"],
    [["::ffff:10.0.0.1"], "10.0.0.1", "1.1.1.1", "1.1.1.1"],
    // An entry that is not an address ends the search.
    [2, "127.0.0.1", "1.1.1.1, unknown, 2.2.2.2", "2.2.2.2"],
    [1, "127.0.0.1", "unknown", "127.0.0.1"],
    [NETS, "10.1.2.3", "1.1.1.1, _hidden, 192.0.2.1", "192.0.2.1"],
    [1, "127.0.0.1", "1.1.1.1.1", "127.0.0.1"],
    [1, "127.0.0.1", "01.1.1.1", "127.0.0.1"],
    [1, "127.0.0.1", '"1.1.1.1"', "127.0.0.1"],
    [1, "127.0.0.1", "shop.example:80", "127.0.0.1"],
    [1, "127.0.0.1", "[1.1.1.1]:80", "127.0.0.1"],
    [1, "127.0.0.1", "[::1", "127.0.0.1"],
    [1, "127.0.0.1", "1.1.1.1:x", "127.0.0.1"],
    // Empty entries do not count as hops.
    [1, "127.0.0.1", "2.2.2.2,", "2.2.2.2"],
    [2, "127.0.0.1", "6.6.6.6, 1.1.1.1, , ,2.2.2.2 , ", "1.1.1.1"],
    [2, "127.0.0.1", ",,,", "127.0.0.1"],
    // Normalised: ports and zones are removed.
    [1, "127.0.0.1", "1.2.3.4:5678", "1.2.3.4"],
    [1, "127.0.0.1", "[::1]:80", "::1"],
    [1, "127.0.0.1", "[2001:DB8::A]", "2001:db8::a"],
    [1, "127.0.0.1", "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    [1, "127.0.0.1", "fe80::1%eth0", "fe80::1"],
    [1, "127.0.0.1", "[fe80::1%eth0]:443", "fe80::1"],
    [1, "127.0.0.1", "::FFFF:102:304", "1.2.3.4"],
    [false, "0000:0000:0000:0000:0000:ffff:7f00:0001", "", "127.0.0.1"],
    [false, "FE80::1%lo", "", "fe80::1"],
    [false, "", "", ""],
  ])("with %j and the peer %s, %j is %s", (setting, peer, header, client) => {
    expect(trust(setting).clientAddress(peer, header)).toBe(client);
  });

  test("is found at the end of a header of any length", () => {
    const header = `${"6.6.6.6, ".repeat(100_000)}1.1.1.1, 10.0.0.2`;
    expect(trust(["10.0.0.0/8"]).clientAddress("10.0.0.1", header)).toBe("1.1.1.1");
    expect(trust(["0.0.0.0/0"]).clientAddress("10.0.0.1", `9.9.9.9, ${header}`)).toBe("9.9.9.9");
  });
});

describe("trust_proxy", () => {
  test.each<[unknown, RegExp]>([
    ["10.0.0.1", /^trust_proxy must be true, false, a number of proxies, or an array/],
    [null, /^trust_proxy must be true, false/],
    [-1, /^trust_proxy must be an integer from 0 to 100, not -1$/],
    [1.5, /^trust_proxy must be an integer/],
    [[1], /^trust_proxy\[0\] must be a string, not 1$/],
    [["10.0.0.0/33"], /not "10.0.0.0\/33"$/],
    [["10.0.0.0/8/8"], /^trust_proxy must name addresses and networks such as/],
    [["10.0.0.0/"], /^trust_proxy must name/],
    [["10.0.0.0/-1"], /^trust_proxy must name/],
    [["::/129"], /^trust_proxy must name/],
    [["::ffff:10.0.0.0/104"], /^trust_proxy must name/],
    [["fe80::1%eth0"], /^trust_proxy must name/],
    [["proxy.example"], /^trust_proxy must name/],
    [["127.0.0.1", ""], /not ""$/],
  ])("%j is refused", (setting, message) => {
    expect(() => trust(setting)).toThrow(message);
  });
});

test("one client is one IPv4 address or one IPv6 /64", () => {
  expect(
    ["1.2.3.4", "2001:db8:1:2:3:4:5:6", "2001:db8::1", "::1", "1::", "1:2::3:4:5:6", "1:2:3:4::", "x"].map(
      clientNetwork,
    ),
  ).toEqual([
    "1.2.3.4",
    "2001:db8:1:2::/64",
    "2001:db8:0:0::/64",
    "0:0:0:0::/64",
    "1:0:0:0::/64",
    "1:2:0:0::/64",
    "1:2:3:4::/64",
    "x",
  ]);
});
