// Where the build leaves the engine and its Unicode table: dist/engine.
import { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";

/** `checked`: the engine with assertions, which tests run. */
export type EngineKind = "release" | "checked";

const FILES: Readonly<Record<EngineKind, string>> = { release: "engine.wasm", checked: "checked.wasm" };

/** Compiles an engine. Rejects when it has not been built. */
export function loadEngine(kind: EngineKind): Promise<EngineModule> {
  const fromSource = import.meta.url.endsWith(".ts");
  const folder = new URL(fromSource ? "../../dist/engine/" : "../../engine/", import.meta.url);
  return EngineModule.fromFiles(new URL(FILES[kind], folder), new URL("fold.bin", folder));
}
