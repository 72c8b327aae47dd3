// The HTTP transports available on this machine, best first. Found by loading them in this process, not by
// asking the server.
import { createRequire } from "node:module";

export type Transport = "uwsjs" | "uws-pack" | "node";

const load = createRequire(import.meta.url);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

async function loads(loading: () => unknown): Promise<boolean> {
  try {
    await loading();
    return true;
  } catch {
    return false;
  }
}

const uwsjs = await loads(() => load(`@uwsjs/${process.platform}-${process.arch}-${major}`));
const uwsPack = await loads(() => import("uWebSockets.js"));

/** Always includes node:http. */
export const TRANSPORTS: readonly Transport[] = [
  ...(uwsjs ? (["uwsjs"] as const) : []),
  ...(uwsPack ? (["uws-pack"] as const) : []),
  "node",
];
/** The uWebSockets.js transports that do not load here. */
export const MISSING: readonly Transport[] = (["uwsjs", "uws-pack"] as const).filter(
  (build) => !TRANSPORTS.includes(build),
);

const nodeShares = major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
/** Transports with which several threads can listen on one address here. */
export const SHARING: readonly Transport[] = TRANSPORTS.filter(
  (transport) => transport !== "node" || nodeShares,
);
