// Activates another embedded model. A shard without a model must have no model vectors either: model numbers
// restart after the last model is lost, so a vector of a lost model could otherwise be mistaken for a vector
// of a new model with the same number.
import type { NumberedModel } from "../../protocol/vectors.js";
import type { ShardIndexState } from "../state.js";

/** A model that is not newer changes nothing. Must run in the index's lane. */
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
