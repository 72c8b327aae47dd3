// The fault points in a shard (storage/fault-points.ts). test/e2e/faults/fault-points.test.ts fails unless
// tests reach every point.
import { faultPoints } from "./storage/fault-points.js";

export const SHARD_FAULT_POINTS = [
  "commit.before-batch",
  "commit.after-batch",
  "commit.publish",
  "merge.before-pieces",
  "merge.after-pieces",
  "merge.before-switch",
  "merge.after-switch",
  "reindex.before-build",
  "purge.before-batch",
  "drop.after-manifest",
  "model.before-switch",
  "model.after-switch",
  "vectors.before-store",
  "vectors.after-store",
  "codes.before-store",
] as const;
export type ShardFaultPoint = (typeof SHARD_FAULT_POINTS)[number];

const points = faultPoints<ShardFaultPoint>();
export const shardFault = points.fault;
export const armShardFault = points.armFault;
