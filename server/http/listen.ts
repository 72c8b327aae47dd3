// Chooses the HTTP front-end: uWebSockets.js, or node:http where it cannot be loaded, with one log line.
import { listenUws, loadUws } from "./app.js";
import { listenNode } from "./node-app.js";
import type { HttpListener, ListenOptions } from "./port.js";
import type { Services } from "./services.js";

/** Rejects when the address cannot be used, or when uWebSockets.js was asked for and does not load. */
export async function listen(
  { config, bodies, unsent, log }: Pick<Services, "config" | "bodies" | "unsent" | "log">,
  given: Pick<ListenOptions, "certificate" | "handler" | "malformed">,
): Promise<HttpListener> {
  const { host, port, limits } = config;
  const options = { host, port, limits, memory: bodies, unsent, ...given };
  if (config.http === "node") {
    log.info("HTTP on node:http, as configured");
    return listenNode(options);
  }
  const uws = await loadUws(limits.headerBytesMax);
  if (!(uws instanceof Error)) return listenUws(uws, options);
  if (config.http === "uws") throw new Error(`uWebSockets.js does not load: ${uws.message}`);
  log.warn(
    { reason: uws.message },
    "HTTP on node:http: uWebSockets.js has no binary for this Node version or libc",
  );
  return listenNode(options);
}
