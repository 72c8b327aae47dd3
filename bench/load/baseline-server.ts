// The bare HTTP server to compare with: a uWebSockets.js handler, of the build that the server takes, that reads a body, parses
// its JSON and sends a fixed number of bytes. Run as a process of its own: `node baseline-server.js BYTES`; prints its address.

import { loadUws, reasonsText, UWS_BUILDS } from "../../server/http/uws.js";
import { DEFAULT_LIMITS } from "../../server/limits.js";

const { loaded, reasons } = await loadUws(UWS_BUILDS, DEFAULT_LIMITS.headerBytesMax);
if (loaded === null) throw new Error(`uWebSockets.js does not load here: ${reasonsText(reasons)}`);
const { uws } = loaded;
const reply = Buffer.alloc(Number(process.argv[2]), "x");
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
    JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (aborted) return;
    response.cork(() => {
      response.writeHeader("content-type", "application/json");
      response.end(reply);
    });
  });
});
app.listen("127.0.0.1", 0, (socket) => {
  if (socket === false) throw new Error("the baseline server cannot listen");
  process.stdout.write(`{"url":"http://127.0.0.1:${uws.us_socket_local_port(socket)}"}\n`);
});
process.on("SIGTERM", () => process.exit(0));
