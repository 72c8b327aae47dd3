// Bodies that take long or never end.
import type { Attack, Wave } from "../attack.js";
import { GOODS, type Place, post } from "../place.js";

const MIB = 1024 * 1024;
/** `bodyIdleMsMax`, and a margin for a busy machine. */
const BODY_END_MS_MAX = 30_000 + 5_000;

function query(place: Place): Buffer {
  const body = Buffer.from(`{"q":"*"}${" ".repeat(MIB - 9)}`);
  return post(place, `/v1/indexes/${GOODS}/query`, place.keys.search, body);
}

function batch(place: Place): Buffer {
  const body = Buffer.alloc(60 * MIB, '{"documents":[]}'.padEnd(MIB));
  return post(place, `/v1/indexes/${GOODS}/documents/batch`, place.keys.documents, body);
}

/** All clients send the same bytes, which need not differ. */
function bodies(of: (place: Place) => Buffer, wave: Omit<Wave, "prepare">): Wave {
  return {
    ...wave,
    prepare: (place) => {
      const request = of(place);
      return () => request;
    },
  };
}

export const BODIES: readonly Attack[] = [
  {
    name: "slow bodies",
    what: "queries of 1 MiB by 500 clients that send 10 KB per second",
    waves: [
      bodies(query, {
        clients: 500,
        requests: 500,
        manner: { kind: "dribbles", bytesPerSecond: 10_000, holdMs: 20_000 },
      }),
    ],
  },
  {
    name: "unfinished bodies",
    what: "500 queries of 1 MiB and 20 batches of 60 MiB that stop short of their end",
    waves: [
      bodies(query, { clients: 500, requests: 500, manner: { kind: "stalls", share: 0.9 } }),
      bodies(batch, { clients: 20, requests: 20, manner: { kind: "stalls", share: 0.9 } }),
    ],
    bounds: { endMsMax: BODY_END_MS_MAX },
  },
];
