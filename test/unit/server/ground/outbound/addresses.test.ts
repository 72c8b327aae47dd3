// Which addresses a tenant's request may reach, in every notation that a URL allows.
import { describe, expect, test } from "vitest";
import {
  type AddressRules,
  hostProblem,
  isPublic,
  mayConnect,
} from "../../../../../server/ground/outbound/addresses.js";

const STRICT: AddressRules = { allowPrivate: false, allowHosts: [] };

const REFUSED = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.100.100.200",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "192.168.255.255",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:8.8.8.8",
  "::ffff:7f00:1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::1",
  "100::1",
  "1fff:ffff::1",
  "2001::1",
  "2001:0:4136:e378::1",
  "2001:2::1",
  "2001:10::1",
  "2001:20::1",
  "2001:1ff::1",
  "2001:db8::1",
  "2002::1",
  "2002:7f00:1::1",
  "3fff::1",
  "3fff:fff::1",
  "4000::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "2606:4700::1%eth0",
  "fec0::1",
  "ff02::1",
  "",
  "127.1",
  "localhost",
  "01.2.3.4",
];

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "93.184.216.34",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "168.63.129.15",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.1",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2000::1",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2001:db7::1",
  "2001:db9::1",
  "2003::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001::1",
  "3ffe::1",
  "3fff:1000::1",
];

describe("an address", () => {
  test.each(REFUSED)("outside global unicast is refused: %s", (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test.each(PUBLIC)("in global unicast is allowed: %s", (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test("normally refused can be allowed by the operator: all of them, by name, or by address in any spelling", () => {
    expect(mayConnect("shop.internal", "10.0.0.1", STRICT)).toBe(false);
    expect(mayConnect("shop.internal", "10.0.0.1", { ...STRICT, allowPrivate: true })).toBe(true);
    expect(mayConnect("shop.internal", "10.0.0.1", { ...STRICT, allowHosts: ["Shop.Internal."] })).toBe(true);
    expect(mayConnect("shop.internal", "10.0.0.1", { ...STRICT, allowHosts: ["10.0.0.1"] })).toBe(true);
    expect(mayConnect("shop.internal", "fd00::1", { ...STRICT, allowHosts: ["[FD00:0::1]"] })).toBe(true);
    expect(mayConnect("a.shop.internal", "10.0.0.1", { ...STRICT, allowHosts: ["shop.internal"] })).toBe(
      false,
    );
    expect(mayConnect("shop.internal", "10.0.0.11", { ...STRICT, allowHosts: ["10.0.0.1"] })).toBe(false);
  });
});

describe("a URL", () => {
  test.each([
    ["http://127.0.0.1/", "127.0.0.1"],
    ["http://127.0.0.1./", "127.0.0.1"],
    ["http://127.1/", "127.0.0.1"],
    ["http://127.0.1/", "127.0.0.1"],
    ["http://0x7f.1/", "127.0.0.1"],
    ["http://0x7f000001/", "127.0.0.1"],
    ["http://0X7F.0x0.0x0.0x1/", "127.0.0.1"],
    ["http://2130706433/", "127.0.0.1"],
    ["http://017700000001/", "127.0.0.1"],
    ["http://0177.0.0.01/", "127.0.0.1"],
    ["http://%31%32%37.0.0.1/", "127.0.0.1"],
    ["http://127。0。0。1/", "127.0.0.1"],
    ["http://１２７.0.0.1/", "127.0.0.1"],
    ["http://①②⑦.0.0.1/", "127.0.0.1"],
    ["http://0/", "0.0.0.0"],
    ["https://169.254.169.254/latest/meta-data", "169.254.169.254"],
    ["http://2852039166/", "169.254.169.254"],
    ["http://user:secret@10.0.0.1:8080/feed", "10.0.0.1"],
    ["http://[::1]/", "::1"],
    ["http://[0:0:0:0:0:0:0:1]/", "::1"],
    ["http://[::ffff:127.0.0.1]/", "::ffff:7f00:1"],
    ["http://[::FFFF:7F00:0001]/", "::ffff:7f00:1"],
    ["http://[::127.0.0.1]/", "::7f00:1"],
    ["http://[64:ff9b::10.0.0.1]/", "64:ff9b::a00:1"],
    ["http://[fe80::1]/", "fe80::1"],
    ["http://localhost/", "localhost"],
    ["http://LOCALHOST.:9200/", "localhost"],
    ["http://shop.localhost/", "shop.localhost"],
  ])("with a private address in any spelling is refused: %s", (url, host) => {
    expect(hostProblem(url, STRICT)).toBe(`must resolve to a public address, not to ${host}`);
  });

  test.each([
    "ftp://shop.example/",
    "file:///etc/passwd",
    "data:text/csv,a",
    "javascript:1",
    "ws://shop.example/",
  ])("with another scheme is refused: %s", (url) => {
    expect(hostProblem(url, { ...STRICT, allowPrivate: true })).toBe("must begin with http:// or https://");
  });

  test.each([
    "",
    "shop.example/feed",
    "http://",
    "http://?q",
    "http://[::1",
    "http://1.2.3.4.5/",
    "http://[fe80::1%25eth0]/",
  ])("that is malformed is refused: %s", (url) => {
    expect(hostProblem(url, STRICT)).toBe("must be an absolute URL that begins with http:// or https://");
  });

  test("must name a host", () => {
    expect(hostProblem("http://./feed", { ...STRICT, allowPrivate: true })).toBe("must name a host");
  });

  test.each([
    "https://shop.example/feed.xml",
    "http://shop.example:8080",
    "http://8.8.8.8/",
    "http://[2606:4700::1]/",
    "http://localhost.example/",
  ])("with a public host passes: %s", (url) => {
    expect(hostProblem(url, STRICT)).toBeNull();
  });

  test("with a host that the operator allows passes", () => {
    const rules = { ...STRICT, allowHosts: ["LocalHost", "::1", "10.0.0.1"] };
    for (const url of ["http://localhost.:80/", "http://[::1]/", "http://0xa.1/"])
      expect(hostProblem(url, rules)).toBeNull();
    expect(hostProblem("http://127.0.0.1/", rules)).not.toBeNull();
    expect(hostProblem("http://127.0.0.1/", { ...STRICT, allowPrivate: true })).toBeNull();
  });
});
