// Loads uWebSockets.js: which builds of it there are, where they are, and why one does not load here. The only file that names
// their packages. It does not choose (listen.ts) and uses nothing of what it loads (uws-transport.ts).
import { createRequire } from "node:module";

/** What the server uses of the library. Both builds have it. */
export type Uws = Pick<
  typeof import("uWebSockets.js"),
  "App" | "SSLApp" | "us_listen_socket_close" | "us_socket_local_port"
>;

/** The builds, the best first: `uwsjs` is current, one package a platform and Node version; `uws-pack` is older and has all in one. */
export const UWS_BUILDS = ["uwsjs", "uws-pack"] as const;
export type UwsBuild = (typeof UWS_BUILDS)[number];

export interface LoadedUws {
  readonly build: UwsBuild;
  readonly uws: Uws;
}

export interface UwsSearch {
  /** null: none of the builds loads. */
  readonly loaded: LoadedUws | null;
  /** Why the builds that were tried before it do not load here. */
  readonly reasons: Readonly<Partial<Record<UwsBuild, string>>>;
}

const load = createRequire(import.meta.url);

const LOADERS: Record<UwsBuild, () => Uws | Promise<Uws>> = {
  uwsjs: () => {
    const [major] = process.versions.node.split(".");
    return load(`@uwsjs/${process.platform}-${process.arch}-${major}`);
  },
  "uws-pack": () => import("uWebSockets.js"),
};

/** The first of the builds that loads. The largest head of a request is settled with the first call of a process. */
export async function loadUws(builds: readonly UwsBuild[], headerBytesMax: number): Promise<UwsSearch> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headerBytesMax);
  const reasons: Partial<Record<UwsBuild, string>> = {};
  for (const build of builds) {
    try {
      return { loaded: { build, uws: await LOADERS[build]() }, reasons };
    } catch (error) {
      reasons[build] = reasonOf(error);
    }
  }
  return { loaded: null, reasons };
}

/** For instance "uwsjs: Cannot find module '@uwsjs/linux-x64-20'; uws-pack: ...". */
export function reasonsText(reasons: UwsSearch["reasons"]): string {
  return Object.entries(reasons)
    .map(([build, reason]) => `${build}: ${reason}`)
    .join("; ");
}

/**
 * What the system's loader or Node said, on one line. Node's list of the files that asked for a missing one follows it; uws-pack
 * puts a general hint, an empty line and the error's name before it.
 */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .split("\n\n")
    .at(-1)!
    .split("\n")[0]!
    .replace(/^\w*Error: /, "");
}
