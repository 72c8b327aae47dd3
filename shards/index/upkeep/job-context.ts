// What a background job of an index works with.
import type { Lane } from "../lane.js";
import type { IndexState } from "../state.js";
import type { Turns } from "../turns.js";

export interface JobContext {
  state: IndexState;
  lane: Lane;
  turns: Turns;
}
