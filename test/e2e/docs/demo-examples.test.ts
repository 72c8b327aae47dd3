// Runs the examples in docs/semantic.md and docs/understanding.md in order. They must answer as the pages
// show. Examples about the shop run on the demo. Examples about a model of your own run on a server
// configured as the page says, together with the embedding server that the page starts.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_KEY, eventually, TestServer } from "../world/harness.js";
import { examplesOf, page, type Surroundings, whatDiffers } from "./page-examples.js";

const SEMANTIC = page("docs/semantic.md");
/**
 * Sections of docs/semantic.md that explain how to use your own model. Their examples do not need the demo.
 */
const OWN_MODEL = /^(A model of your own|Vectors that the client sends), /;
const EMBEDDINGS = "http://127.0.0.1:8901";
const DEMO_MS_MAX = 60_000;

/**
 * Starts one of the project's scripts and waits until its output contains `mark`. Returns the process and the
 * output.
 */
async function started(script: string, args: string[], mark: RegExp, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [resolve(script), ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  await eventually(async () => mark.test(output), `${script} has started`, DEMO_MS_MAX);
  return { child, output };
}

async function stopped(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill();
  await ended;
}

describe.skipIf(process.platform === "win32")("the demo", () => {
  let demo: ChildProcess | undefined;
  const folder = mkdtempSync(join(tmpdir(), "skein-demo-examples-"));
  const around: { env: Record<string, string> } = { env: { KEY: ADMIN_KEY } };

  beforeAll(async () => {
    const { child, output } = await started(
      "dist/server/cli/demo/main.js",
      ["--port", "0"],
      /The server stays up/,
      { SKEIN_ADMIN_KEY: ADMIN_KEY },
    );
    demo = child;
    around.env.URL = /Skein runs at (\S+)/.exec(output)![1]!;
  });

  afterAll(async () => {
    await stopped(demo);
    rmSync(folder, { recursive: true });
  });

  const semantic = examplesOf(SEMANTIC).filter(({ name }) => !OWN_MODEL.test(name));
  const understanding = examplesOf(page("docs/understanding.md"));
  for (const example of [...semantic, ...understanding])
    test(example.name, async () => {
      expect(await whatDiffers(example, folder, around), example.commands).toBeNull();
    });
});

describe.skipIf(process.platform === "win32")("a model of your own", () => {
  let server: TestServer;
  let embeddings: ChildProcess | undefined;
  const folder = mkdtempSync(join(tmpdir(), "skein-model-examples-"));
  let around: Surroundings;

  beforeAll(async () => {
    const { child, output } = await started("docs/examples/embedding-server.mjs", ["0"], /embeddings at/);
    embeddings = child;
    const [, config] = /^echo '(.+)' > skein\.config\.json$/m.exec(SEMANTIC)!;
    server = await TestServer.start({ config: JSON.parse(config!) as object });
    around = {
      env: { URL: server.url, KEY: ADMIN_KEY },
      hosts: { [EMBEDDINGS]: /embeddings at (http:\/\/[\d.:]+)/.exec(output)![1]! },
    };
  });

  afterAll(async () => {
    await server.close();
    await stopped(embeddings);
    rmSync(folder, { recursive: true });
  });

  for (const example of examplesOf(SEMANTIC).filter(({ name }) => OWN_MODEL.test(name)))
    test(example.name, async () => {
      expect(await whatDiffers(example, folder, around), example.commands).toBeNull();
    });
});
