// In the checked engine, a failed assertion ends its kernel with a trap that names the condition and its
// location. The released engine has no assertions.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { EngineInstance } from "../../../../engine-wasm/host/wasm/memory.js";
import { brokenAssertions } from "../../../broken-assertions.js";
import { loadEngine } from "../load-engine.js";

const TEXT = "only a region that is reserved is given back";
const MESSAGE = /assertion failed: only a region that is reserved is given back \(.*memory\/arena\.ts:\d+\)/;

function releaseTwice(instance: EngineInstance): void {
  const region = instance.reserve(64);
  instance.reserve(64);
  instance.release(region);
  instance.release(region);
}

test("a broken assertion ends the kernel with its text, file and line", async () => {
  const instance = (await loadEngine("checked")).instantiate();
  const printed = await brokenAssertions(() =>
    expect(() => releaseTwice(instance)).toThrow(
      expect.objectContaining({ code: "trap", message: expect.stringMatching(MESSAGE) }),
    ),
  );
  expect(printed).toMatch(MESSAGE);
  expect(instance.usable).toBe(false);
});

test("the released engine is compiled without assertions", async () => {
  const holds = async (file: string) => {
    const bytes = await readFile(new URL(`../../../../dist/engine/${file}`, import.meta.url));
    return bytes.includes(Buffer.from(TEXT, "utf16le"));
  };
  expect(await holds("checked.wasm")).toBe(true);
  expect(await holds("engine.wasm")).toBe(false);
  releaseTwice((await loadEngine("release")).instantiate());
});
