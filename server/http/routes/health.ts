// GET /health/live: the process answers. GET /health/ready: every shard answers and every index is open.
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
  const { lifecycle, cluster } = services;
  const waiting = lifecycle.unopened;
  if (waiting > 0 || lifecycle.failures.length > 0 || !(await cluster.ready())) {
    throw new SkeinError("SK-SYS-503", "not every index answers yet", {
      retryAfter: 1,
      details: { opening: waiting, failed: lifecycle.failures.length },
    });
  }
  return dataReply({ status: "ready" });
}
