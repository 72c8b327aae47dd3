// Activates another embedded model. If the shard has no model, first deletes the vectors that earlier models
// made. Model numbers restart once the last model is lost, so a lost model's vector could otherwise be
// mistaken for that of a new model with the same number.
import type { NumberedModel } from "../../protocol/vectors.js";
import type { ShardIndexState } from "../state.js";

/** Does nothing if the model is not newer than the current model. Must run in the index's lane. */
export async function setModel(state: ShardIndexState, model: NumberedModel): Promise<void> {
  const { vectors, snapshots } = state;
  if (!vectors.wants(model)) return;
  if (vectors.lacksModel) {
    for (const { segment } of snapshots.entries) segment.replaceCodes(null);
    state.showCodes();
    await vectors.clearVectors();
  }
  await vectors.setModel(model);
}
