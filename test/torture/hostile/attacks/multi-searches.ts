// Multi-searches: little to send, much to answer.
import type { Attack, Manner, Wave } from "../attack.js";
import { GOODS, NUMBER, numbered, type Place, post } from "../place.js";

const SLOTS = 50;
const PAGE_MAX = 250;
const IMPATIENT_MS = 200;
const HOLD_MS = 30_000;

export function multiSearchWave(
  clients: number,
  requests: number,
  manner: Manner,
  key: keyof Place["keys"] = "search",
): Wave {
  return {
    clients,
    requests,
    manner,
    prepare: (place) => numbered([post(place, "/v1/multi-search", place.keys[key], multiSearch(place))]),
  };
}

function multiSearch({ words }: Place): object {
  const slot = (i: number): object => ({
    index: GOODS,
    q: words[i % 20],
    filter_by: `price:>${NUMBER}`,
    per_page: PAGE_MAX,
  });
  return { searches: Array.from({ length: SLOTS }, (_, i) => slot(i)) };
}

export const MULTI_SEARCHES: readonly Attack[] = [
  {
    name: "abandoned multi-searches",
    what: `multi-searches of ${SLOTS} slots of ${PAGE_MAX} hits by 300 clients that leave after ${IMPATIENT_MS} ms and come back`,
    waves: [multiSearchWave(300, 1_500, { kind: "leaves", afterMs: IMPATIENT_MS })],
  },
  {
    name: "unread multi-searches",
    what: "the same by 300 clients that read nothing or a byte per second",
    waves: [
      multiSearchWave(150, 150, { kind: "sips", bytesPerSecond: 0, holdMs: HOLD_MS }),
      multiSearchWave(150, 150, { kind: "sips", bytesPerSecond: 1, holdMs: HOLD_MS }),
    ],
  },
  {
    name: "limited key",
    what: "the same with a key of one request per second, by five clients that read them",
    waves: [{ ...multiSearchWave(5, 100, { kind: "reads" }, "limited"), pauseMs: 1_000 }],
    bounds: { sameTenant: { p99MsMax: 3_000, msMax: 12_000, refusedMax: 0.02, failedMax: 0 } },
  },
];
