// What the trainer's thread is told.

import type { BuildSchema } from "../../../engine-wasm/host/instance/workbench.js";
import type { TrainedSlot } from "../../../engine-wasm/host/vectors/trainer.js";

export interface TrainingTask {
  readonly schema: BuildSchema;
  readonly fields: readonly TrainedSlot[];
  /** JSON texts, one behind the other, and where each ends. */
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
  readonly number: number;
  readonly termsMax: number;
  /** The model before, to whose vectors the new ones are turned. */
  readonly previous: Uint8Array | null;
}
