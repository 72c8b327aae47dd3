// Health routes. GET /health/live shows that the process responds, and GET /health/ready that the server has
// started and every shard responds. After startup, the server opens the indexes one by one; an index needed
// earlier is opened immediately. `unseen` is the number of indexes not opened yet. A server with a damaged
// index is still ready, because a restart would not repair that index, and all other indexes work.
import { SkeinError } from "../../ground/errors.js";
import { dataReply } from "../respond.js";
import type { Route, RouteRequest } from "../route.js";

export const healthRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/health/live",
    operation: "live",
    access: "open",
    handle: () => dataReply({ status: "live" }),
  },
  {
    method: "GET",
    path: "/health/ready",
    operation: "ready",
    access: "open",
    whileServing: true,
    handle: ready,
  },
];

async function ready({ services }: RouteRequest) {
  const { indexes, health, lifecycle } = services;
  if (!lifecycle.begun || !(await health.ready())) {
    throw new SkeinError("SK-SYS-503", "some shards do not answer yet", { retryAfter: 1 });
  }
  const { failing: failed, unseen } = indexes.counts;
  return dataReply({ status: "ready", failed, unseen });
}
