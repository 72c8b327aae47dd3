// Which uWebSockets.js build is loaded, tested with the real packages. The build depends on the machine; the
// rules do not.
import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { loadUws, reasonsText, UWS_BUILDS } from "../../../../../server/http/transport/load-uws.js";

const load = (...builds: (typeof UWS_BUILDS)[number][]) => loadUws(builds, DEFAULT_LIMITS.headerBytesMax);

describe.each(UWS_BUILDS)("the build %s", (build) => {
  test("is a library with everything the server uses, or has a one-line reason", async () => {
    const { loaded, reasons } = await load(build);
    if (loaded === null) {
      expect(Object.keys(reasons)).toEqual([build]);
      expect(reasons[build]).toMatch(/^[^\n]*(Cannot find|GLIBC|node_modules|shared library)[^\n]*$/);
      return;
    }
    expect([loaded.build, reasons]).toEqual([build, {}]);
    const { App, SSLApp, us_listen_socket_close, us_socket_local_port } = loaded.uws;
    expect([App, SSLApp, us_listen_socket_close, us_socket_local_port].map((part) => typeof part)).toEqual(
      Array(4).fill("function"),
    );
  });
});

describe("among several builds", () => {
  test.each([[UWS_BUILDS], [UWS_BUILDS.toReversed()]])(
    "%j the first that loads is used, with a reason for each before it",
    async (builds) => {
      const alone = await Promise.all(builds.map((build) => load(build)));
      const first = alone.findIndex(({ loaded }) => loaded !== null);
      const { loaded, reasons } = await load(...builds);
      expect(loaded?.build).toBe(builds[first]);
      expect(Object.keys(reasons)).toEqual(first < 0 ? builds : builds.slice(0, first));
    },
  );

  test("none is tried if none is allowed", async () => {
    expect(await load()).toEqual({ loaded: null, reasons: {} });
  });
});

test("reasons are given in one line, by build", () => {
  expect(reasonsText({ uwsjs: "no such file", "uws-pack": "no binary" })).toBe(
    "uwsjs: no such file; uws-pack: no binary",
  );
});
