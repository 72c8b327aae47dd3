// One round: start a server; then, twice on the same data, write and query concurrently in lanes, kill -9 in
// the middle, restart from disk and check everything. The seed determines what a lane does, but not the
// moment of the kill.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../../bench/random.js";
import { eventually, sleep, TestServer } from "../e2e/world/harness.js";
import { checkQueries, createLane, indexName, LossError, recoveredState } from "./check.js";
import { anyOperation, type Operation, START, type State } from "./operation.js";

const LANES = 3;
const KILLS = 2;
const LOAD_MS = { least: 150, most: 1500 };
const WRITES_LEAST = 6;
const QUERIES_AFTER_RESTART = 12;
const HISTORY = 40;

export interface RoundResult {
  readonly round: number;
  readonly shards: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly queries: number;
  readonly ms: number;
  /** The message describes the loss, and `directory` has the evidence; null if nothing was lost. */
  readonly loss: { readonly message: string; readonly directory: string } | null;
}

class Lane {
  state: State = START;
  pending: Operation | null = null;
  acknowledged = 0;
  queries = 0;
  readonly history: string[] = [];

  constructor(
    readonly number: number,
    readonly random: Random,
  ) {}

  /**
   * Sends operations and queries until the server is gone or `isOver` returns true. Throws LossError if an
   * answer differs from the model's.
   */
  async work(server: TestServer, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const operation = anyOperation(this.random, this.state);
      this.pending = operation;
      if (!(await this.send(server, operation))) return;
      this.pending = null;
      this.state = operation.after;
      this.acknowledged++;
      if (this.random.below(3) > 0) continue;
      try {
        await checkQueries(server, this.number, this.state, this.random, 1);
        this.queries++;
      } catch (error) {
        if (error instanceof LossError) throw error;
        return; // the server is gone
      }
    }
  }

  /** Resolves with false if there was no response. */
  private async send(server: TestServer, { kind, request, status, failed }: Operation): Promise<boolean> {
    const { method, path, index } = request;
    let body = request.body;
    if (path === "swap-with") body = { target_index: indexName(this.number, "next") };
    const reply = await server
      .raw(method, `/v1/indexes/${indexName(this.number, index)}/${path}`, { body })
      .catch(() => null);
    this.history.push(`${kind} ${index} -> ${reply?.status ?? "no answer"}`);
    if (reply === null) return false;
    const summary = path.startsWith("documents/import") ? lastLine(reply.text) : reply.json.data;
    // An import response without its last line was cut off.
    if (summary === null) return false;
    if (reply.status !== status || (failed !== undefined && summary.failed !== failed)) {
      throw new LossError(`lane ${this.number}: ${kind} was answered with ${reply.status}`, {
        expected: { status, failed },
        reply: reply.text.slice(0, 2000),
      });
    }
    return true;
  }
}

function lastLine(text: string): { failed?: number } | null {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  if (!text.endsWith("\n")) return null;
  const summary = JSON.parse(line) as { failed?: number; received?: number };
  return summary.received === undefined ? null : summary;
}

export async function tortureRound(round: number, seed: number, kills = KILLS): Promise<RoundResult> {
  const started = performance.now();
  const shards = 1 + (round % 3);
  const random = new Random(Math.imul(seed, 7919) + round);
  const lanes = Array.from({ length: LANES }, (_, i) => new Lane(i, new Random(random.below(2 ** 31))));
  const dataDir = mkdtempSync(join(tmpdir(), "skein-torture-"));
  const server = await TestServer.start({ shards, dataDir });
  let [loss, unanswered]: [RoundResult["loss"], number] = [null, 0];
  try {
    for (const lane of lanes) await createLane(server, lane.number);
    for (let kill = 0; kill < kills; kill++) {
      await loadAndKill(server, lanes, random.from(LOAD_MS.least, LOAD_MS.most));
      unanswered += lanes.filter(({ pending }) => pending !== null).length;
      await server.launch();
      for (const lane of lanes) {
        lane.state = await recoveredState(server, lane.number, lane.state, lane.pending);
        lane.pending = null;
        lane.history.push("killed and started again");
        await checkQueries(server, lane.number, lane.state, lane.random, QUERIES_AFTER_RESTART);
        lane.queries += QUERIES_AFTER_RESTART;
      }
    }
  } catch (error) {
    const evidence = error instanceof LossError ? error.evidence : (error as Error).stack;
    const history = lanes.map((lane) => lane.history.slice(-HISTORY));
    const message = (error as Error).message;
    const report = { message, seed, round, shards, history, evidence, log: server.log };
    writeFileSync(join(dataDir, "evidence.json"), JSON.stringify(report, null, 1));
    loss = { message, directory: dataDir };
  }
  await server.stop("SIGKILL");
  await server.close();
  if (loss === null) rmSync(dataDir, { recursive: true, force: true });
  const sum = (of: (lane: Lane) => number): number => lanes.reduce((total, lane) => total + of(lane), 0);
  return {
    round,
    shards,
    acknowledged: sum((lane) => lane.acknowledged),
    unanswered,
    queries: sum((lane) => lane.queries),
    ms: performance.now() - started,
    loss,
  };
}

/**
 * Kills the server after `ms` milliseconds, or later on a slow machine: not before WRITES_LEAST writes have
 * been acknowledged.
 */
async function loadAndKill(server: TestServer, lanes: readonly Lane[], ms: number): Promise<void> {
  let over = false;
  const writes = (): number => lanes.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  const before = writes();
  const work = lanes.map(async (lane) => {
    try {
      await lane.work(server, () => over);
    } finally {
      over = true; // after a loss, the other lanes can stop
    }
  });
  const working = Promise.allSettled(work);
  await sleep(ms);
  await eventually(async () => over || writes() - before >= WRITES_LEAST, "writes are acknowledged");
  over = true;
  await server.stop("SIGKILL");
  const failed = (await working).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
