// What a background job of an index works with.

import type { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import type { LargeWork } from "../large-work.js";
import type { ShardIndexState } from "../state.js";
import type { Turns } from "../turns.js";

export interface JobContext {
  state: ShardIndexState;
  lane: Lane;
  turns: Turns;
  large: LargeWork;
}
