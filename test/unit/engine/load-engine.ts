// The built engines for the unit tests of their kernels: compiled once per test file.

import { type EngineKind, loadEngine as load } from "../../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";

/** The module of dist/engine; `npm run build` makes it. Tests run the engine with assertions unless they are about the other one. */
export function loadEngine(kind: EngineKind = "checked"): Promise<EngineModule> {
  return load(kind);
}
