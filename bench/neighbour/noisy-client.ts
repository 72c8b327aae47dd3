// The noisy tenant's clients. They run in their own process, so that they do not delay the event loop that
// measures the quiet tenant. The parent process says which work to prepare and when to start and stop.

import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, Connection } from "../load/connection.js";
import { HEAVY_WORK, type HeavyRequest, type HeavyWork, type Place } from "./heavy-work.js";

export type Order =
  | { readonly order: "prepare"; readonly work: string; readonly place: Place }
  | { readonly order: "begin" }
  | { readonly order: "end" };

/** Counts since the start of the round. */
export interface NoisyRound {
  readonly answered: number;
  /** Number of requests whose client left before the answer was complete. */
  readonly left: number;
  /** Number of 429 and 503 responses. */
  readonly refused: number;
  /** Number of other responses that are not 2xx. */
  readonly failed: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
}

const DIGITS = 8;
/** Pause after a refusal: the shortest that Retry-After can specify. */
const REFUSED_PAUSE_MS = 1_000;

let place: Place | null = null;
let work: HeavyWork | null = null;
let requests: readonly HeavyRequest[] = [];
let sent = 0;
let end: (() => Promise<NoisyRound>) | null = null;

process.on("message", (message: Order) => {
  void obey(message).then((reply) => process.send!(reply));
});

async function obey(message: Order): Promise<NoisyRound | null> {
  if (message.order === "prepare") {
    work = HEAVY_WORK.find(({ name }) => name === message.work)!;
    place = message.place;
    requests = work.requests(place);
    return null;
  }
  if (message.order === "begin") {
    end = await begin(work!, place!);
    return null;
  }
  return end!();
}

async function begin(
  { clients, leavesAfterMs }: HeavyWork,
  { host }: Place,
): Promise<() => Promise<NoisyRound>> {
  const [name, port] = host.split(":") as [string, string];
  const counts = { answered: 0, left: 0, refused: 0, failed: 0 };
  const open = (): Promise<Connection> => Connection.open(name, Number(port));
  const connections = await Promise.all(Array.from({ length: clients }, open));
  const started = performance.now();
  const cpu = process.cpuUsage();
  let over = false;
  const count = async ({ status }: Answer): Promise<void> => {
    counts.answered++;
    if (status === 429 || status === 503) {
      counts.refused++;
      await sleep(REFUSED_PAUSE_MS);
    } else if (status >= 300) counts.failed++;
  };
  const loop = async (first: Connection): Promise<void> => {
    let connection = first;
    while (!over) {
      const answer = connection.ask(next());
      if (leavesAfterMs === undefined) {
        await count(await answer);
        continue;
      }
      const soon = await Promise.race([answer.catch(() => null), sleep(leavesAfterMs, null)]);
      if (soon) await count(soon);
      else counts.left++;
      connection.close();
      connection = await open();
    }
    connection.close();
  };
  const running = Promise.all(connections.map(loop));
  return async () => {
    over = true;
    await running;
    const used = process.cpuUsage(cpu);
    const seconds = (performance.now() - started) / 1000;
    return { ...counts, cpuSeconds: (used.user + used.system) / 1e6, seconds };
  };
}

/** Returns the next request, containing a number not sent before. */
function next(): Buffer {
  const { bytes, patched } = requests[sent++ % requests.length]!;
  if (patched.length === 0) return bytes;
  const own = Buffer.from(bytes); // the previous request may still be in flight
  const number = String(sent).padStart(DIGITS, "0");
  for (const at of patched) own.write(number, at, "latin1");
  return own;
}
