// Compiled code is kept for the next start, where Node can do so.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { TestServer } from "../world/harness.js";

const files = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String);

test.skipIf(!("enableCompileCache" in nodeModule))("a server leaves compiled code behind", async () => {
  const server = await TestServer.start();
  try {
    expect(await server.stop()).toBe(0);
    expect(files(builtFile("compiled")).length).toBeGreaterThan(1);
  } finally {
    await server.close();
  }
});

test.skipIf(!("enableCompileCache" in nodeModule))("the operator may say where it is kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skein-compiled-"));
  const server = await TestServer.start({ env: { NODE_COMPILE_CACHE: folder } });
  try {
    expect(await server.stop()).toBe(0);
    expect(files(folder).length).toBeGreaterThan(1);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
});
