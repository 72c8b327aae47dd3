// Connections that send nothing, or half a head.
import type { Attack } from "../attack.js";
import { GOODS, post } from "../place.js";

const HOLD_MS = 20_000;
/** Both HTTP implementations have closed such connections after this time. */
const HEAD_END_MS_MAX = 60_000;

export const CONNECTIONS: readonly Attack[] = [
  {
    name: "silent connections",
    what: "5,000 connections that send nothing, and 1,000 that send half a head",
    waves: [
      {
        clients: 5_000,
        requests: 5_000,
        manner: { kind: "dribbles", bytesPerSecond: 0, holdMs: HOLD_MS },
        prepare: () => () => Buffer.alloc(0),
      },
      {
        clients: 1_000,
        requests: 1_000,
        manner: { kind: "stalls", share: 0.5 },
        prepare: (place) => {
          const request = post(place, `/v1/indexes/${GOODS}/query`, place.keys.search, Buffer.alloc(0));
          return () => request;
        },
      },
    ],
    bounds: { endMsMax: HEAD_END_MS_MAX },
  },
];
