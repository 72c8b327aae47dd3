// What an index's background jobs need from the index and the shard.

import type { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import type { LargeWork } from "../large-work.js";
import type { Slices } from "../slices.js";
import type { ShardIndexState } from "../state.js";

export interface JobContext {
  state: ShardIndexState;
  lane: Lane;
  slices: Slices;
  large: LargeWork;
}
