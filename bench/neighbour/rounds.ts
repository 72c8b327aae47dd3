// Measures rounds of the quiet tenant's queries, alternately alone and next to the noisy tenant's work.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { ApiClient } from "../../server/cli/api.js";
import { Connection } from "../load/connection.js";
import type { ServerProcess } from "../load/server-process.js";
import { embedded } from "../load/settle.js";
import { type HeavyWork, INDEX, type Place } from "./heavy-work.js";
import type { NoisyRound, Order } from "./noisy-client.js";
import { quietRound } from "./quiet-client.js";
import type { Measured, Round } from "./report.js";

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
  readonly perSecond: number;
}

/**
 * Before the next round without heavy work, the server must have used less than this share of a processor for
 * this long (ms): it may still be at work for clients that have left.
 */
const CALM = { share: 0.1, ms: 500, msMax: 60_000 };
/** Pause between the start of heavy work and the round measured next to it. */
const BEGUN_MS = 300;

export class Rounds {
  #next = 0;

  constructor(
    private readonly server: ServerProcess,
    private readonly noisy: ChildProcess,
    private readonly place: Place,
    private readonly queries: readonly Buffer[],
    private readonly pace: Pace,
  ) {}

  /** Alternates rounds without the heavy work and rounds next to it. */
  async measure(work: HeavyWork): Promise<Measured> {
    const alone: Round[] = [];
    const beside: Round[] = [];
    await this.#order({ order: "prepare", work: work.name, place: this.place });
    for (let i = 0; i < this.pace.rounds; i++) {
      alone.push(await this.round(this.pace.seconds));
      await this.#order({ order: "begin" });
      await sleep(BEGUN_MS);
      const round = await this.round(this.pace.seconds);
      beside.push({ ...round, noisy: (await this.#order({ order: "end" }))! });
      await this.#calm();
    }
    return { name: work.name, why: work.why, clients: work.clients, alone, beside };
  }

  async round(seconds: number): Promise<Round> {
    const { perSecond } = this.pace;
    const cpuBefore = this.server.cpuSeconds();
    const busyBefore = busySeconds();
    const { hostname, port } = this.server.url;
    const connection = await Connection.open(hostname, Number(port));
    const quiet = await quietRound(connection, this.queries, this.#next, { perSecond, seconds });
    connection.close();
    this.#next += quiet.times.length;
    const cpuAfter = this.server.cpuSeconds();
    const busyAfter = busySeconds();
    return {
      ...quiet,
      serverCpuSeconds: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
      machineBusySeconds: busyBefore === null || busyAfter === null ? null : busyAfter - busyBefore,
      noisy: null,
    };
  }

  async #order(order: Order): Promise<NoisyRound | null> {
    this.noisy.send(order);
    const [reply] = (await once(this.noisy, "message")) as [NoisyRound | null];
    return reply;
  }

  /** Deletes the indexes that the heavy work created, then waits until the server has nothing left to do. */
  async #calm(): Promise<void> {
    const client = new ApiClient(this.server.url.href, this.place.key, 4);
    const { data } = (await client.json("GET", "/v1/indexes")) as { data: { name: string }[] };
    for (const { name } of data) if (name !== INDEX) await client.json("DELETE", `/v1/indexes/${name}`);
    await embedded(client, INDEX);
    client.close();
    for (const begun = performance.now(); performance.now() - begun < CALM.msMax; ) {
      const before = this.server.cpuSeconds();
      await sleep(CALM.ms);
      const after = this.server.cpuSeconds();
      if (before === null || after === null || ((after - before) * 1000) / CALM.ms < CALM.share) return;
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** CPU seconds that the machine has spent on all processes since boot; null on systems without /proc. */
function busySeconds(): number | null {
  try {
    const line = /^cpu +(.*)$/m.exec(readFileSync("/proc/stat", "utf8"))![1]!;
    const [user, nice, system, , , irq, soft, steal] = line.split(" ").map(Number) as number[];
    return (user! + nice! + system! + irq! + soft! + steal!) / 100;
  } catch {
    return null;
  }
}
