// The built engines for the kernels' unit tests, compiled once per test file.

import { type EngineKind, loadEngine as load } from "../../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";

/**
 * Loads the module in dist/engine, which `npm run build` creates. Tests use the engine with assertions unless
 * they are about the released engine.
 */
export function loadEngine(kind: EngineKind = "checked"): Promise<EngineModule> {
  return load(kind);
}
