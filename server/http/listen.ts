// Chooses what carries HTTP: the current build of uWebSockets.js, else the older one, else node:http. One log line says which, and
// why none of those before it.
import type { Config } from "../config.js";
import { listenUws } from "./app.js";
import { listenNode } from "./node-app.js";
import type { HttpListener, ListenOptions } from "./port.js";
import type { Services } from "./services.js";
import { loadUws, reasonsText, UWS_BUILDS, type UwsBuild } from "./uws.js";

/** The builds of uWebSockets.js that a setting allows. */
const BUILDS: Record<Config["http"], readonly UwsBuild[]> = {
  auto: UWS_BUILDS,
  uws: UWS_BUILDS,
  uwsjs: ["uwsjs"],
  "uws-pack": ["uws-pack"],
  node: [],
};

/** Rejects when the address cannot be used, or when uWebSockets.js was asked for and does not load. */
export async function listen(
  { config, bodies, unsent, log }: Pick<Services, "config" | "bodies" | "unsent" | "log">,
  given: Pick<ListenOptions, "certificate" | "handler" | "malformed">,
): Promise<HttpListener> {
  const { host, port, limits, http } = config;
  const options = { host, port, limits, memory: bodies, unsent, ...given };
  const { loaded, reasons } = await loadUws(BUILDS[http], limits.headerBytesMax);
  const line = { transport: loaded?.build ?? "node", configured: http, notLoaded: reasons };
  if (loaded !== null) {
    log.info(line, "HTTP on uWebSockets.js");
    return listenUws(loaded.uws, options);
  }
  if (http === "node") {
    log.info(line, "HTTP on node:http, as configured");
    return listenNode(options);
  }
  if (http !== "auto") throw new Error(`uWebSockets.js does not load here: ${reasonsText(reasons)}`);
  log.warn(line, "HTTP on node:http: uWebSockets.js has no binary for this Node version or libc");
  return listenNode(options);
}
