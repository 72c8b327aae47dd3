// Carries out attacks one after the other, each on a freshly started server with the same data, watches the
// server meanwhile and compares what happened with the attack's bounds.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { sleep, type TestServer } from "../../e2e/world/harness.js";
import { type Attack, BOUNDS, type Bounds, type Mishap } from "./attack.js";
import type { Counts, Order } from "./attacker.js";
import { judge } from "./judge.js";
import type { Outcome } from "./outcome.js";
import { Site, type SiteOptions } from "./site.js";
import { Visitor, type VisitorReport } from "./visitor.js";

const WARM_UP_MS = 3_000;
const ATTACK_MS_MAX = 90_000;
const SAMPLE_MS = 50;
const DRAIN_MS_MAX = 60_000;
/** How long the server may take to give back memory, in milliseconds. */
const REST_MS_MAX = 20_000;
const POLL_MS = 250;

export async function attackAll(
  attacks: readonly Attack[],
  options: SiteOptions,
  minutes: number,
  told: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const site = new Site(options);
  const outcomes: Outcome[] = [];
  const started = performance.now();
  try {
    await site.fill();
    do {
      for (const attack of attacks) {
        const outcome = await carryOut(site, attack, options.heapMiB);
        told(outcome);
        outcomes.push(outcome);
      }
    } while (performance.now() - started < minutes * 60_000);
  } finally {
    await site.close();
  }
  return outcomes;
}

async function carryOut(site: Site, attack: Attack, heapMiB: number): Promise<Outcome> {
  const { server } = site;
  const bounds: Bounds = { ...BOUNDS, ...attack.bounds };
  const logged = server.log.length;
  await server.launch();
  const { place } = site;
  await warmUp(site);
  const load = loadavg()[0]!;
  const resident = new Resident(server);
  const visitors = [site.visitorKeys.same, site.visitorKeys.other].map((key) => new Visitor(place, key));
  const attacker = fork(builtFile("test/torture/hostile/attacker.js"), { serialization: "advanced" });
  await obeyed(attacker, { order: "prepare", attack: attack.name, place, endMsMax: bounds.endMsMax });
  const stopped = attack.mishap === undefined ? null : happen(site, attack.mishap);
  const counts = (await obeyed(attacker, { order: "begin", msMax: ATTACK_MS_MAX })) as Counts;
  attacker.kill();
  const earlyStop = (await stopped) ?? null;
  const [same, other] = (await Promise.all(visitors.map((visitor) => visitor.leave()))) as [
    VisitorReport,
    VisitorReport,
  ];
  const lived = earlyStop !== null || server.running;
  const drainMs = lived && earlyStop === null ? await drained(site) : null;
  if (drainMs !== null) await rested(resident, bounds.keptMax * heapMiB);
  const stop = earlyStop ?? (await stopOf(server));
  const errors = server.log
    .slice(logged)
    .filter(({ level }) => level === "error" || level === "fatal")
    .map(({ msg }) => String(msg));
  const seen = { attack, load, counts, same, other, resident: resident.end(), lived, drainMs, stop, errors };
  return { ...seen, findings: judge(seen, bounds, heapMiB) };
}

async function obeyed(attacker: ChildProcess, order: Order): Promise<Counts | null> {
  attacker.send(order);
  const [reply] = (await once(attacker, "message")) as [Counts | null];
  return reply;
}

/** Lets visitors in for a while, so that indexes are loaded and code is compiled. */
async function warmUp({ place, visitorKeys: { same, other } }: Site): Promise<void> {
  const visitors = [same, other].map((key) => new Visitor(place, key));
  await sleep(WARM_UP_MS);
  await Promise.all(visitors.map((visitor) => visitor.leave()));
}

/** Resolves with null, or when the server has stopped if that is what happens to it. */
async function happen(site: Site, { kind, afterMs }: Mishap): Promise<Outcome["stop"] | null> {
  await sleep(afterMs);
  if (kind === "stop") return stopOf(site.server);
  site.order(kind);
  return null;
}

async function stopOf(server: TestServer): Promise<Outcome["stop"]> {
  const begun = performance.now();
  const code = await server.stop();
  return { ms: performance.now() - begun, code };
}

/** Returns after how many milliseconds the scrape was the only request in flight, DRAIN_MS_MAX at most. */
async function drained(site: Site): Promise<number> {
  const begun = performance.now();
  for (; performance.now() - begun < DRAIN_MS_MAX; await sleep(POLL_MS)) {
    const inFlight = await site.metric("http_requests_in_flight").catch(() => Number.NaN);
    if (inFlight === 1) return performance.now() - begun;
  }
  return DRAIN_MS_MAX;
}

/** Waits until memory has grown by less than `keptMiB`, or until the server has had enough time for that. */
async function rested(resident: Resident, keptMiB: number): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < REST_MS_MAX; await sleep(POLL_MS))
    if (resident.now - resident.before < keptMiB) return;
}

/** Watches a server's resident memory, in MiB. */
class Resident {
  readonly before: number;
  now: number;
  #peak: number;
  readonly #timer: NodeJS.Timeout;

  constructor(server: TestServer) {
    this.before = this.now = this.#peak = server.residentMiB() ?? 0;
    this.#timer = setInterval(() => {
      this.now = server.residentMiB() ?? this.now;
      this.#peak = Math.max(this.#peak, this.now);
    }, SAMPLE_MS);
  }

  end(): Outcome["resident"] {
    clearInterval(this.#timer);
    return { before: this.before, peak: this.#peak, after: this.now };
  }
}
