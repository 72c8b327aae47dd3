// What the trainer's thread is told and answers.

import type { BuildSchema } from "../../engine-wasm/host/instance/workbench.js";
import type { TrainedSlot } from "../../engine-wasm/host/vectors/trainer.js";

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

export interface TrainedModel {
  readonly bytes: Uint8Array;
  /** Its vectors can be compared with those of the model before. */
  readonly aligned: boolean;
}
