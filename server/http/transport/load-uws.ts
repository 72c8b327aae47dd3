// Loads uWebSockets.js. Only this file names the packages of its builds and knows where to find them and why
// one may fail to load. listen.ts chooses the transport, and uws-transport.ts uses the library.
import { createRequire } from "node:module";

/** The library's functions that the server uses. Both builds have them. */
export type Uws = Pick<
  typeof import("uWebSockets.js"),
  "App" | "SSLApp" | "us_listen_socket_close" | "us_socket_local_port"
>;

/**
 * The builds, best first: `uwsjs` is current, with one package per platform and Node version; `uws-pack` is
 * older and has all platforms in one package.
 */
export const UWS_BUILDS = ["uwsjs", "uws-pack"] as const;
export type UwsBuild = (typeof UWS_BUILDS)[number];

export interface LoadedUws {
  readonly build: UwsBuild;
  readonly uws: Uws;
}

export interface UwsSearch {
  /** The loaded build; null if none loads. */
  readonly loaded: LoadedUws | null;
  /** For each build that failed to load, the reason. */
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

/** Loads the first build that works. The first call in a process fixes the maximum request header size. */
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

/** For example "uwsjs: Cannot find module '@uwsjs/linux-x64-20'; uws-pack: ...". */
export function reasonsText(reasons: UwsSearch["reasons"]): string {
  return Object.entries(reasons)
    .map(([build, reason]) => `${build}: ${reason}`)
    .join("; ");
}

/**
 * Extracts the system loader's or Node's message from an error, on one line. Node appends a list of requiring
 * files to it; uws-pack puts a general hint, an empty line and the error's name before it.
 */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .split("\n\n")
    .at(-1)!
    .split("\n")[0]!
    .replace(/^\w*Error: /, "");
}
