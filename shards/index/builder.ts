// Builds segments from documents in slices between requests, as merges do. A build needs an engine instance
// to itself from its first step to its last, so builds run one after another in a workbench of their own.
import type { BuildDocument, BuildResult } from "../../engine-wasm/host/instance/build.js";
import type { BuildSchema, Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { Lane } from "../../engine-wasm/host/runtime/lane.js";
import type { Slices } from "./slices.js";

export class Builder {
  readonly #workbench: Workbench;
  readonly #slices: Slices;
  readonly #lane = new Lane();

  /** Nothing else may use the workbench. */
  constructor(workbench: Workbench, slices: Slices) {
    this.#workbench = workbench;
    this.#slices = slices;
  }

  /** See Workbench.rest. Does nothing while builds are running or queued. */
  rest(): void {
    if (this.#lane.size === 0) this.#workbench.rest();
  }

  /** Like Workbench.build. */
  build(schema: BuildSchema, documents: readonly BuildDocument[]): Promise<BuildResult> {
    return this.#lane.run(async () => {
      await this.#slices.pause();
      const build = this.#workbench.beginBuild(schema, documents);
      for (;;) {
        const result = build.step();
        if (result !== null) return result;
        if (this.#slices.over) await this.#slices.next();
      }
    });
  }
}
