// Loads the engines that the build has written to dist/engine, and their Unicode table.
import { readFile } from "node:fs/promises";
import { builtFile } from "../runtime/built-files.js";
import { EngineModule } from "./engine-module.js";

/** `checked`: the engine with assertions, used by tests. */
export type EngineKind = "release" | "checked";

const FILES: Readonly<Record<EngineKind, string>> = {
  release: "engine/engine.wasm",
  checked: "engine/checked.wasm",
};
const FOLD_TABLE = "engine/fold.bin";

/** Compiles an engine. Rejects with the file system's error if it has not been built. */
export async function loadEngine(kind: EngineKind): Promise<EngineModule> {
  const [wasm, foldTable] = await Promise.all(
    [FILES[kind], FOLD_TABLE].map((file) => readFile(builtFile(file))),
  );
  return EngineModule.load(new Uint8Array(wasm!), foldTable!);
}
