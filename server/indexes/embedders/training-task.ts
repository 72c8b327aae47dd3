// The trainer thread's task.

import type { BuildSchema } from "../../../engine-wasm/host/instance/workbench.js";
import type { TrainedSlot } from "../../../engine-wasm/host/vectors/trainer.js";

export interface TrainingTask {
  readonly schema: BuildSchema;
  readonly fields: readonly TrainedSlot[];
  /** Concatenated JSON texts. `ends` contains each text's end. */
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
  readonly number: number;
  readonly termsMax: number;
  /** The previous model, whose vectors the new model's vectors are aligned with. */
  readonly previous: Uint8Array | null;
}
