// Compiles a few lines of AssemblyScript together with the engine's own files, so that a test can reach
// functions that are not kernels.
import { readFile } from "node:fs/promises";
import asc from "assemblyscript/asc";
import { brokenAssertion } from "../../../../engine-wasm/host/wasm/assertion.js";

const FOLDER = new URL("../../../../engine-wasm/assembly/", import.meta.url);
const ENTRY = "parts-entry.ts";

export interface Parts {
  memory: WebAssembly.Memory;
  exports: Record<string, (...numbers: (number | bigint)[]) => number & bigint>;
}

/**
 * Compiles `source`, which may import from "./json/json" and so on. Optimisation is off because it would take
 * most of the compile time; static data starts at the same address as in an optimised engine. If compilation
 * fails, throws an error with the compiler's messages.
 */
export async function compileParts(source: string): Promise<Parts> {
  let wasm: Uint8Array<ArrayBuffer> | null = null;
  const options =
    "--runtime stub --memoryBase 1024 --importMemory --initialMemory 2 --maximumMemory 65536 --enable simd -o out.wasm";
  const { error, stderr } = await asc.main([ENTRY, ...options.split(" ")], {
    readFile: (name) => (name === ENTRY ? source : readEngineFile(name)),
    writeFile: (name, contents) => {
      if (name === "out.wasm" && typeof contents !== "string") wasm = new Uint8Array(contents);
    },
    listFiles: () => [],
  });
  if (error !== null || wasm === null) throw new Error(`${error?.message}\n${stderr.toString()}`);
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 65536, shared: false });
  const parseNumber = (p: number, bytes: number): number =>
    Number(Buffer.from(memory.buffer, p, bytes).toString("latin1"));
  const outOfMemory = (): never => {
    throw new Error("out of memory");
  };
  const imports = {
    env: {
      memory,
      parseNumber,
      abort: (text: number, file: number, line: number): undefined =>
        brokenAssertion(Buffer.from(memory.buffer), text, file, line),
      outOfMemory,
      checkDeadline: (): undefined => undefined,
    },
  };
  const instance = new WebAssembly.Instance(await WebAssembly.compile(wasm), imports);
  return { memory, exports: instance.exports as Parts["exports"] };
}

async function readEngineFile(name: string): Promise<string | null> {
  try {
    return await readFile(new URL(name, FOLDER), "utf8");
  } catch {
    return null; // the compiler tries several locations per import
  }
}
