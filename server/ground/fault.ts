// The fault points in the server's main thread (shards/storage/fault-points.ts). Each is a moment when the
// catalog, the shards and the backup files disagree, because only some of them have completed a step.
// test/e2e/faults/fault-points.test.ts fails if no test reaches a point.
import { faultPoints } from "../../shards/storage/fault-points.js";

export const SERVER_FAULT_POINTS = [
  "catalog.before-batch",
  "catalog.after-batch",
  "create.after-catalog",
  "create.after-shards",
  "schema.after-catalog",
  "schema.before-shards",
  "schema.after-shards",
  "copy.after-catalog",
  "swap.after-catalog",
  "remove.after-catalog",
  "remove.after-shards",
  "write.before-shards",
  "write.after-shards",
  "open.after-shards",
  "unload.before-shards",
  "run.after-queue",
  "run.after-begin",
  "run.before-batch",
  "run.after-batch",
  "run.after-read",
  "run.before-deletion",
  "run.after-deletion",
  "run.after-end",
  "backup.after-take",
  "backup.after-files",
  "backup.after-manifest",
  "backup.after-rename",
  "backup.during-removal",
  "restore.after-shard",
  "restore.after-build",
  "restore.after-rename",
  "restore.after-part",
  "restore.before-end",
  "spread.before-copy",
  "spread.after-copy",
  "spread.after-decision",
  "spread.before-drop",
  "reshard.after-plan",
  "reshard.after-index",
  "reshard.after-complete",
  "reshard.after-catalog",
  "reshard.after-aside",
  "reshard.after-switch",
  "audit.before-line",
  "audit.during-rotation",
  "audit.after-line",
  "secrets.after-key",
  "secrets.after-catalog",
  "secrets.after-rename",
] as const;
export type ServerFaultPoint = (typeof SERVER_FAULT_POINTS)[number];

const points = faultPoints<ServerFaultPoint>();
export const fault = points.fault;
export const armFault = points.armFault;
