// Finds out whether an address is free without occupying it.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../../../server/http/frontends/free-port.js";

const HOST = "127.0.0.1";

test("a chosen port is free, repeatedly", async () => {
  const port = await freePort(HOST, 0);
  expect(port).toBeGreaterThan(0);
  expect(await freePort(HOST, port)).toBe(port);
});

test("a port in use and a foreign address are refused in one sentence", async () => {
  const server = createServer().listen(0, HOST);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sentence = /^cannot listen on \S+: the address is in use or not allowed$/;
  await expect(freePort(HOST, port)).rejects.toThrow(sentence);
  await expect(freePort("192.0.2.1", 0)).rejects.toThrow(sentence);
});
