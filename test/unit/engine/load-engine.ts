// The built engine for the unit tests of its kernels: compiled once per test file.
import { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";

/** The module of dist/engine; `npm run build` makes it. */
export function loadEngine(): Promise<EngineModule> {
  const folder = new URL("../../../dist/engine/", import.meta.url);
  return EngineModule.fromFiles(new URL("engine.wasm", folder), new URL("fold.bin", folder));
}
