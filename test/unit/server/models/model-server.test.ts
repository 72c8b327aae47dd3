// Requests to a model server: what is sent, over which connections, and how each kind of invalid response is
// handled.
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Endpoint, Network } from "../../../../server/ground/outbound/connector.js";
import { EndpointError, UnreachableError } from "../../../../server/models/model-server.js";
import { CERTIFICATE, TLS_KEY } from "../../../e2e/world/certificates.js";
import { type EmbeddingServer, startEmbeddingServer } from "../../../e2e/world/embedding-server.js";
import { API_KEY, failureOf, modelServer, NEVER } from "./embedding-world.js";

const BODY = { model: "small", input: ["red shoe"], dimensions: 512, encoding_format: "float" };

let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer();
});
afterEach(() => server.close());

describe("a request", () => {
  test("is posted below the URL, with the key", async () => {
    const client = modelServer(server.url());
    expect(await client.post(BODY, NEVER)).toMatchObject({ data: [{ index: 0 }] });
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/v1/embeddings",
        headers: {
          host: `127.0.0.1:${server.port}`,
          authorization: `Bearer ${API_KEY}`,
          "content-type": "application/json",
          "user-agent": "Skein",
        },
        body: BODY,
      },
    ]);
    client.close();
  });

  test.each([
    ["/v1", "/v1/embeddings"],
    ["/v1/", "/v1/embeddings"],
    ["/v1/embeddings", "/v1/embeddings"],
    ["/v1/embeddings/", "/v1/embeddings"],
    ["", "/v1/embeddings"],
    ["/", "/v1/embeddings"],
    ["/openai/deployments/x?api-version=2", "/openai/deployments/x/embeddings?api-version=2"],
  ])("to a URL with the path %j goes to %s", async (path, expected) => {
    const client = modelServer(`http://127.0.0.1:${server.port}${path}`, { apiKey: null });
    await client.post(BODY, NEVER);
    expect(server.requests[0]).toMatchObject({ path: expected });
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
    client.close();
  });

  test("reuses the previous request's connection, or opens another once the server has closed it", async () => {
    const client = modelServer(server.url());
    for (let i = 0; i < 3; i++) await client.post(BODY, NEVER);
    server.closeIdle();
    await client.post(BODY, NEVER);
    server.script({ reset: true });
    await client.post(BODY, NEVER); // sent again: losing an idle connection is harmless
    expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1, 1, 2, 2, 3]);
    client.close();
  });

  test("ended by its signal closes its connection", async () => {
    const client = modelServer(server.url());
    for (const silent of ["before", "within"] as const) {
      const stop = new AbortController();
      server.script({ silent });
      const failed = failureOf(client.post(BODY, stop.signal));
      while (server.openConnections() === 0) await new Promise(setImmediate);
      stop.abort(new Error("enough"));
      expect(await failed).toMatchObject({ message: "enough" });
      while (server.openConnections() > 0) await new Promise(setImmediate);
    }
    expect(await failureOf(client.post(BODY, AbortSignal.abort(new Error("before"))))).toMatchObject({
      message: "before",
    });
    client.close();
  });
});

describe("a reply", () => {
  const STATUSES: [number, boolean][] = [
    [201, false],
    [204, false],
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [422, false],
    [429, true],
    [500, true],
    [503, true],
  ];
  test.each(STATUSES)("with the status %i is an error (temporary: %s)", async (status, isPassing) => {
    const client = modelServer(server.url());
    server.script({ status, ...(status === 204 && { body: "" }) });
    const failure = await failureOf(client.post(BODY, NEVER));
    expect(failure).toBeInstanceOf(EndpointError);
    const message = `the model's server answered with status ${status}`;
    expect(failure).toMatchObject({ message, status, isPassing, afterMs: null });
    client.close();
  });

  test.each([301, 302, 303, 307, 308])("that redirects (%i) is not followed", async (status) => {
    const trap = await startEmbeddingServer();
    const client = modelServer(server.url());
    server.script({ status, headers: { location: `${trap.url()}/embeddings` } });
    expect(await failureOf(client.post(BODY, NEVER))).toMatchObject({ status });
    expect([server.requests.length, trap.requests.length]).toEqual([1, 0]);
    client.close();
    await trap.close();
  });

  test("may say how long the server wants to be left alone", async () => {
    const client = modelServer(server.url());
    server.script({ status: 429, headers: { "retry-after": "7" } });
    expect(await failureOf(client.post(BODY, NEVER))).toMatchObject({ status: 429, afterMs: 7_000 });
    server.script({ status: 503, headers: { "retry-after": "86400" } });
    expect(await failureOf(client.post(BODY, NEVER))).toMatchObject({ status: 503, afterMs: 600_000 });
    server.script({ status: 400, headers: { "retry-after": "7" } });
    expect(await failureOf(client.post(BODY, NEVER))).toMatchObject({ status: 400, afterMs: null });
    client.close();
  });

  test("that is too large, not JSON or cut off is an error", async () => {
    const client = modelServer(server.url(), { answerBytesMax: 1_000 });
    server.script({ body: JSON.stringify("x".repeat(2_000)) });
    expect((await failureOf(client.post(BODY, NEVER))).message).toBe("the model's answer is too large");
    server.script({ body: "<html>" });
    expect((await failureOf(client.post(BODY, NEVER))).message).toBe(
      "the model's server did not answer with JSON",
    );
    server.always({ reset: true });
    const broken = await failureOf(client.post(BODY, NEVER));
    expect(broken).toBeInstanceOf(UnreachableError);
    expect(broken).toMatchObject({
      message: `127.0.0.1:${server.port} broke off the connection`,
      isPassing: true,
    });
    client.close();
  });

  test("that repeats the key does not carry it into the error", async () => {
    const keyed = await startEmbeddingServer({ apiKey: "another" });
    const client = modelServer(keyed.url());
    const failure = await failureOf(client.post(BODY, NEVER));
    expect(failure).toMatchObject({ status: 401, isPassing: false });
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain(API_KEY);
    client.close();
    await keyed.close();
  });

  test("from a closed port is an error", async () => {
    const gone = await startEmbeddingServer();
    await gone.close();
    const client = modelServer(gone.url());
    expect(await failureOf(client.post(BODY, NEVER))).toMatchObject({
      message: "127.0.0.1 refused the connection",
      isPassing: true,
    });
    client.close();
  });
});

describe("the address guard", () => {
  const NOBODY = { allowPrivate: false, allowHosts: [] };

  /**
   * Each look-up of a name resolves to the next addresses in `answers`; the last ones repeat. Connections to
   * 93.184.216.34 go to the server.
   */
  function network(...answers: string[][]): Network & { readonly connected: Endpoint[] } {
    const connected: Endpoint[] = [];
    return {
      connected,
      resolve: async () => (answers.length > 1 ? answers.shift()! : answers[0]!),
      connect: (endpoint) => {
        connected.push(endpoint);
        const port = endpoint.address === "93.184.216.34" ? server.port : endpoint.port;
        return connect({ host: "127.0.0.1", port });
      },
    };
  }

  test.each([["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["fd00::1"]])(
    "refuses to connect to a private address: %s",
    async (address) => {
      const net = network([address]);
      const url = `http://models.example:${server.port}/v1`;
      const client = modelServer(url, { addresses: NOBODY, network: net });
      const failure = await failureOf(client.post(BODY, NEVER));
      expect(failure).toMatchObject({
        message: "models.example does not resolve to a public address, so nothing was sent to it",
        isPassing: false,
      });
      expect([net.connected, server.requests]).toEqual([[], []]);
      client.close();
    },
  );

  test("connects to exactly the address it has checked, and checks each new connection", async () => {
    const net = network(["10.0.0.1", "93.184.216.34"], ["127.0.0.1"]);
    const client = modelServer("http://models.example/v1", { addresses: NOBODY, network: net });
    await client.post(BODY, NEVER);
    await client.post(BODY, NEVER);
    expect(net.connected).toEqual([{ address: "93.184.216.34", port: 80, certifiedName: null }]);
    server.closeIdle();
    const failure = await failureOf(client.post(BODY, NEVER));
    expect(failure.message).toContain("does not resolve to a public address");
    expect([net.connected.length, server.requests.length]).toEqual([1, 2]);
    client.close();
  });

  test("lets addresses pass that the operator allows", async () => {
    for (const addresses of [
      { allowPrivate: true, allowHosts: [] },
      { allowPrivate: false, allowHosts: ["models.example"] },
    ]) {
      const net = { ...network(["127.0.0.1"]) };
      const client = modelServer(`http://models.example:${server.port}/v1`, { addresses, network: net });
      expect(await client.post(BODY, NEVER)).toMatchObject({ data: [{ index: 0 }] });
      client.close();
    }
  });

  test("checks the certificate against the name in the URL, and keeps the connection", async () => {
    const secure = await startEmbeddingServer({ tls: { key: TLS_KEY, cert: CERTIFICATE } });
    const trusting: Network = {
      resolve: async () => ["127.0.0.1"],
      connect: ({ address: host, port, certifiedName }) =>
        connectTls({ host, port, ca: CERTIFICATE, servername: certifiedName! }),
    };
    const addresses = { allowPrivate: true, allowHosts: [] };
    const client = modelServer(secure.url("shop.example"), { addresses, network: trusting });
    for (let i = 0; i < 2; i++) await client.post(BODY, NEVER);
    expect(secure.requests.map(({ connection }) => connection)).toEqual([1, 1]);
    const other = modelServer(secure.url("other.example"), { addresses, network: trusting });
    expect(await failureOf(other.post(BODY, NEVER))).toMatchObject({
      message: "the certificate of other.example is for a different name",
      isPassing: false,
    });
    expect(secure.requests).toHaveLength(2);
    client.close();
    await secure.close();
  });
});

test("closing ends idle connections and running requests", async () => {
  const client = modelServer(server.url());
  await client.post(BODY, NEVER);
  server.always({ silent: "before" });
  const failed = failureOf(client.post(BODY, NEVER));
  while (server.requests.length < 2) await new Promise(setImmediate);
  client.close();
  expect(await failed).toBeInstanceOf(EndpointError);
  while (server.openConnections() > 0) await new Promise(setImmediate);
});
