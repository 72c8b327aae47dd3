// Servers shared by all tests in a file: started before the first test and closed after the last. A file can
// therefore have one describe block per topic without starting a server for each.
import { afterAll, beforeAll, expect } from "vitest";
import { type StartOptions, TestServer } from "./harness.js";
import { TRANSPORTS, type Transport } from "./transports.js";

interface SharedOptions extends StartOptions {
  /** Fails the test file if the server has logged an error by the end. */
  quiet?: boolean;
}

/** Starts a server before the first test, and runs `prepare` on it. */
export function sharedServer(
  { quiet = false, ...options }: SharedOptions,
  prepare: (server: TestServer) => Promise<unknown> = async () => undefined,
): TestServer {
  const server = new TestServer(options);
  beforeAll(async () => {
    await server.launch();
    await prepare(server).catch((error: Error) => {
      error.message += `\n\n${server.lastLines.text()}`;
      throw error;
    });
  });
  afterAll(async () => {
    await server.close();
    if (!quiet) return;
    expect(server.log.filter(({ level }) => level === "error" || level === "fatal")).toEqual([]);
  });
  return server;
}

/**
 * One server per HTTP transport that loads on this machine, best first and node:http last, as rows for
 * describe.each.
 */
export function serverOverEachHttp(
  options: SharedOptions,
  prepare?: (server: TestServer) => Promise<unknown>,
): [http: Transport, server: TestServer][] {
  return TRANSPORTS.map((http) => [http, sharedServer({ ...options, http }, prepare)]);
}
