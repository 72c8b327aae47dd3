// Runs the commands in docs/tutorial.md in order from the project root. They must print what the page shows,
// and the shop's web server must serve its page with the key they created.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_KEY, MAIN, TestServer } from "../world/harness.js";
import { examplesOf, page, whatDiffers } from "./page-examples.js";

const TUTORIAL = page("docs/tutorial.md");

describe.skipIf(process.platform === "win32")("docs/tutorial.md", () => {
  let server: TestServer;
  let shop: ChildProcess | undefined;
  const folder = mkdtempSync(join(tmpdir(), "skein-tutorial-"));

  beforeAll(async () => {
    const [, config] = /^echo '(.+)' > skein\.config\.json$/m.exec(TUTORIAL)!;
    server = await TestServer.start({ config: JSON.parse(config!) as object });
    await mkdir(join(folder, "docs/examples"), { recursive: true });
    await cp("docs/examples/shop", join(folder, "docs/examples/shop"), { recursive: true });
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  });

  afterAll(async () => {
    shop?.kill();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  for (const example of examplesOf(TUTORIAL))
    test(example.name, async () => {
      const found = await whatDiffers(example, folder, {
        env: { SKEIN_URL: server.url, SKEIN_ADMIN_KEY: ADMIN_KEY },
        hosts: { "npx skein": `${process.execPath} ${MAIN}` },
      });
      expect(found, example.commands).toBeNull();
    });

  test("step 6's web server serves the page and step 5's key", async () => {
    shop = spawn(process.execPath, ["docs/examples/shop/serve.mjs", "0"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = (await once(shop.stdout!, "data")) as [Buffer];
    const url = /http:\S+/.exec(String(printed))![0];
    expect(await (await fetch(url)).text()).toContain('<input type="search"');
    expect(await (await fetch(`${url}/config.js`)).text()).toContain("key: 'sk_");
    expect((await fetch(`${url}/../serve.mjs`)).status).toBe(404);
  });
});
