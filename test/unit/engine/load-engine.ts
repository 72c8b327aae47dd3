// The built engines for the unit tests of the kernels: compiled once per test file.

import { type EngineKind, loadEngine as load } from "../../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";

/**
 * The module in dist/engine, made by `npm run build`. Tests run the engine with assertions unless they are
 * about the other one.
 */
export function loadEngine(kind: EngineKind = "checked"): Promise<EngineModule> {
  return load(kind);
}
