// A minimal HTTP server that Skein is compared with. It uses the same HTTP transport; its handler reads a
// body, parses the JSON and sends a fixed number of bytes. Runs in its own process, `node baseline-server.js
// BYTES`, and prints its address.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { loadUws, UWS_BUILDS, type Uws } from "../../server/http/transport/load-uws.js";

const reply = Buffer.alloc(Number(process.argv[2]), "x");

function parse(chunks: Buffer[]): void {
  JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

function tell(port: number): void {
  process.stdout.write(`{"url":"http://127.0.0.1:${port}"}\n`);
}

function serveOnUws(uws: Uws): void {
  const app = uws.App();
  app.post("/*", (response) => {
    let aborted = false;
    const chunks: Buffer[] = [];
    response.onAborted(() => {
      aborted = true;
    });
    response.onData((chunk, last) => {
      chunks.push(Buffer.from(chunk.slice(0)));
      if (!last) return;
      parse(chunks);
      if (aborted) return;
      response.cork(() => {
        response.writeHeader("content-type", "application/json");
        response.end(reply);
      });
    });
  });
  app.listen("127.0.0.1", 0, (socket) => {
    if (socket === false) throw new Error("the baseline server cannot listen");
    tell(uws.us_socket_local_port(socket));
  });
}

function serveOnNode(): void {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      parse(chunks);
      response.setHeader("content-type", "application/json");
      response.setHeader("content-length", reply.byteLength);
      response.end(reply);
    });
  });
  server.listen(0, "127.0.0.1", () => tell((server.address() as AddressInfo).port));
}

const { loaded } = await loadUws(UWS_BUILDS, DEFAULT_LIMITS.headerBytesMax);
if (loaded === null) serveOnNode();
else serveOnUws(loaded.uws);
process.on("SIGTERM", () => process.exit(0));
