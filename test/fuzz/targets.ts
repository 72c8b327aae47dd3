// The fuzzing targets by name.
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import { effort } from "../effort.js";
import { feedTarget } from "./feed-target.js";
import { batchTarget, importTarget } from "./intake-target.js";
import { interfaceTarget } from "./interface/interface-target.js";
import { eventsTarget, queryLogTarget } from "./log-target.js";
import { programTarget } from "./program-target.js";
import { bodyTarget } from "./queries/body-target.js";
import { filterTarget } from "./queries/filter-target.js";
import { queryTarget } from "./queries/query-target.js";
import { tokenTarget } from "./queries/token-target.js";
import { understandingTarget } from "./queries/understanding-target.js";
import { segmentTarget } from "./segment-target.js";
import type { Target } from "./target.js";
import { modelTarget } from "./vectors/model-target.js";
import { storedVectorsTarget } from "./vectors/stored-vectors-target.js";
import { codesTarget, vectorTarget } from "./vectors/vector-target.js";

export const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  filter: async () => filterTarget(),
  bodies: async () => bodyTarget(),
  query: queryTarget,
  batch: async () => batchTarget(await loadEngine("checked")),
  import: async () => importTarget(await loadEngine("checked")),
  program: async () => programTarget(await loadEngine("checked")),
  segment: async () => segmentTarget(await loadEngine("checked")),
  model: async () => modelTarget(await loadEngine("checked")),
  vectors: async () => vectorTarget(await loadEngine("checked")),
  codes: async () => codesTarget(await loadEngine("checked")),
  "stored-vectors": async () => storedVectorsTarget(await loadEngine("checked")),
  feeds: async () => feedTarget(),
  events: async () => eventsTarget(),
  "query-log": async () => queryLogTarget(),
  understanding: async () => understandingTarget(),
  interface: () => interfaceTarget("auto", effort(800, 1_500)),
  "interface-node": () => interfaceTarget("node", effort(200, 300)),
  tokens: async () => tokenTarget(await loadEngine("checked")),
};
