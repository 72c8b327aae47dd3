// A stop in the middle of abandoned work, and front-ends that end.
import type { Attack, VisitorBounds } from "../attack.js";
import { multiSearchWave } from "./multi-searches.js";

/** Searches that a front-end has when it ends are cut; those after it are answered. */
const CUT: VisitorBounds = { p99MsMax: 12_000, msMax: 12_000, refusedMax: 0.1, failedMax: 0.1 };

export const MISHAPS: readonly Attack[] = [
  {
    name: "stop",
    what: "SIGTERM a second after 600 clients began to send multi-searches and to leave after 200 ms",
    waves: [multiSearchWave(600, 1_200, { kind: "leaves", afterMs: 200 })],
    mishap: { kind: "stop", afterMs: 1_000 },
  },
  ...(["front-end exits", "front-end out of heap"] as const).map((kind) => ({
    name: kind,
    what: `${kind === "front-end exits" ? "a front-end's thread exits" : "a front-end's thread uses up its heap"} while 20 clients read multi-searches`,
    waves: [multiSearchWave(20, 100, { kind: "reads" })],
    mishap: { kind, afterMs: 3_000 },
    bounds: { sameTenant: CUT, otherTenant: CUT },
  })),
];
