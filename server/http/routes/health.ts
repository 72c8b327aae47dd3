// GET /health/live: the process answers. GET /health/ready: the start is over and every shard answers. Indexes are
// opened as they are needed and one after the other after the start; `unseen` of them have not had their turn yet. A
// damaged index does not make the server unready: no restart and no other machine would cure it, and all others serve.
import { SkeinError } from "../../errors.js";
import { dataReply } from "../respond.js";
import type { OpenContext, Route } from "../router.js";

export const healthRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/health/live",
    operation: "live",
    access: "open",
    handle: () => dataReply({ status: "live" }),
  },
  { method: "GET", path: "/health/ready", operation: "ready", access: "open", handle: ready },
];

async function ready({ services }: OpenContext) {
  const { indexes, health, lifecycle } = services;
  if (!lifecycle.begun || !(await health.ready())) {
    throw new SkeinError("SK-SYS-503", "not every shard answers yet", { retryAfter: 1 });
  }
  const { failing: failed, unseen } = indexes.counts;
  return dataReply({ status: "ready", failed, unseen });
}
