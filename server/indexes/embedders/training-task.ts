// The task of the trainer's thread.

import type { BuildSchema } from "../../../engine-wasm/host/instance/workbench.js";
import type { TrainedSlot } from "../../../engine-wasm/host/vectors/trainer.js";

export interface TrainingTask {
  readonly schema: BuildSchema;
  readonly fields: readonly TrainedSlot[];
  /** Concatenated JSON texts. `ends` has the end of each. */
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
  readonly number: number;
  readonly termsMax: number;
  /** The previous model. The new model's vectors are aligned with its vectors. */
  readonly previous: Uint8Array | null;
}
