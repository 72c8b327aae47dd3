// The task that is sent to the trainer's thread.

import type { BuildSchema } from "../../../engine-wasm/host/instance/workbench.js";
import type { TrainedSlot } from "../../../engine-wasm/host/vectors/trainer.js";

export interface TrainingTask {
  readonly schema: BuildSchema;
  readonly fields: readonly TrainedSlot[];
  /** The documents' JSON texts, concatenated. `ends` contains the end offset of each text. */
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
  readonly number: number;
  readonly termsMax: number;
  /**
   * The index's previous model, if any. The new model is aligned with it, so that vectors of both can be
   * compared.
   */
  readonly previous: Uint8Array | null;
}
