// Puts another embedded model in force. A shard that has no model has no vectors of one either: numbers of models begin anew
// when the last model is lost, and a vector of a lost model must not be taken for one of a new model with its number.
import type { NumberedModel } from "../../protocol/vectors.js";
import type { ShardIndexState } from "../state.js";

/** One that is not newer changes nothing. To be run in the index's lane. */
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
