// The host and the compiler agree on the kernels: every call in engine-wasm/host/wasm/kernels.ts has the
// argument count and the result type that asc wrote into dist/engine/engine.d.ts, and the host lists every
// exported kernel.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

/** Maps each name to "argument count, result type". */
async function signatures(file: string, line: RegExp): Promise<Map<string, string>> {
  const text = await readFile(new URL(`../../../../${file}`, import.meta.url), "utf8");
  const found = new Map<string, string>();
  for (const [, name, parameters, result] of text.matchAll(line)) {
    const count = parameters!.split(",").filter((parameter) => parameter.trim() !== "").length;
    found.set(name!, `${count} ${result!.replace("Address", "number")}`);
  }
  return found;
}

test("host/kernels.ts lists the kernels that asc exports", async () => {
  const host = await signatures("engine-wasm/host/wasm/kernels.ts", /^ {2}(\w+)\(([^)]*)\): (\w+);/gm);
  const engine = await signatures(
    "dist/engine/engine.d.ts",
    /^ {2}export function (\w+)\(([^)]*)\): (\w+);/gm,
  );
  expect(engine.size).toBeGreaterThan(10);
  expect(Object.fromEntries(host)).toEqual(Object.fromEntries(engine));
});
