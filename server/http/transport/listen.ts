// Chooses the HTTP transport. If the setting `http` leaves the choice open, uses the current uWebSockets.js
// build if that loads, otherwise the older build, otherwise node:http. One log line names the choice and says
// why the preferred transports do not load.
import type { Logger } from "../../ground/log.js";
import type { Config } from "../../operate/config/config.js";
import { loadUws, reasonsText, UWS_BUILDS, type UwsBuild } from "./load-uws.js";
import { listenNode } from "./node-transport.js";
import type { ListenOptions, OwnListener } from "./port.js";
import { listenUws } from "./uws-transport.js";

/** The uWebSockets.js builds to try for each value of the setting `http`. */
const BUILDS: Record<Config["http"], readonly UwsBuild[]> = {
  auto: UWS_BUILDS,
  uws: UWS_BUILDS,
  uwsjs: ["uwsjs"],
  "uws-pack": ["uws-pack"],
  node: [],
};

export type HttpTransport = UwsBuild | "node";

/** Returns the transport to use. Rejects if the configuration demands uWebSockets.js but it does not load. */
export async function chooseTransport(
  { http, limits }: Pick<Config, "http" | "limits">,
  log: Logger,
): Promise<HttpTransport> {
  const { loaded, reasons } = await loadUws(BUILDS[http], limits.headerBytesMax);
  const transport: HttpTransport = loaded?.build ?? "node";
  const line = { transport, configured: http, notLoaded: reasons };
  if (loaded !== null) log.info(line, "HTTP on uWebSockets.js");
  else if (http === "node") log.info(line, "HTTP on node:http, as configured");
  else if (http === "auto")
    log.warn(line, "HTTP on node:http: uWebSockets.js has no binary for this Node version or libc");
  else throw new Error(`uWebSockets.js does not load here: ${reasonsText(reasons)}`);
  return transport;
}

/** Starts listening with the chosen transport. Rejects if the address cannot be used. */
export async function listen(transport: HttpTransport, options: ListenOptions): Promise<OwnListener> {
  if (transport === "node") return listenNode(options);
  const { loaded, reasons } = await loadUws([transport], options.limits.headerBytesMax);
  if (loaded === null) throw new Error(`uWebSockets.js does not load here: ${reasonsText(reasons)}`);
  return listenUws(loaded.uws, options);
}
