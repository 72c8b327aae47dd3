// Where the build leaves the engine and its Unicode table: dist/engine.
import { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";

/** Compiles the engine. Rejects when it has not been built. */
export function loadEngine(): Promise<EngineModule> {
  const fromSource = import.meta.url.endsWith(".ts");
  const folder = new URL(fromSource ? "../../dist/engine/" : "../../engine/", import.meta.url);
  return EngineModule.fromFiles(new URL("engine.wasm", folder), new URL("fold.bin", folder));
}
