// What the fault point tests share: servers and commands on one data directory, fault points that a test can
// arm, and the client's view of all indexes.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ADMIN_KEY, eventually, MAIN, TestServer } from "../world/harness.js";

const MODULE = pathToFileURL(join(import.meta.dirname, "fault-module.mjs")).href;
/** Too few slots for three indexes, so that indexes in use evict each other. */
const LIMITS = { openIndexesMax: 2, homeDocumentsMax: 1 };

interface IndexView {
  /** All documents, one line each, sorted. */
  documents: string[];
  /** The settings that the scenarios change. */
  symbols: string[];
  typos: number;
}

/** Views by index name. */
export type View = Record<string, IndexView>;

export class World {
  readonly place = mkdtempSync(join(tmpdir(), "skein-test-faults-"));
  readonly dataDir = join(this.place, "data");
  readonly faults = join(this.place, "faults");
  server: TestServer | undefined;
  shards = 2;
  readonly #config = join(this.place, "config.json");

  constructor(config: object = {}) {
    mkdirSync(this.faults);
    mkdirSync(this.dataDir);
    writeFileSync(this.#config, JSON.stringify({ limits: LIMITS, ...config }));
  }

  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${MODULE}`, SKEIN_TEST_FAULT_DIR: this.faults };
  }

  async start(): Promise<TestServer> {
    const { dataDir, shards, env } = this;
    this.server = await TestServer.start({ dataDir, shards, env, flags: ["--config", this.#config] });
    return this.server;
  }

  /** Sets what happens the next few times the point is passed: one action each time. */
  arm(point: string, ...turns: ("skip" | "throw" | "kill" | "stop")[]): void {
    mkdirSync(join(this.faults, point), { recursive: true });
    for (const [i, what] of turns.entries()) writeFileSync(join(this.faults, point, `${i}-${what}`), "");
  }

  disarm(point: string): void {
    rmSync(join(this.faults, point), { recursive: true, force: true });
  }

  /** True if the point has been passed as many times as it was armed. */
  spent(point: string): boolean {
    return readdirSync(join(this.faults, point)).length === 0;
  }

  passed(): Set<string> {
    return new Set(readFileSync(join(this.faults, "passed"), "utf8").trim().split("\n"));
  }

  /** Runs `skein ...` until it exits; `code` is null if a signal ended it. */
  async skein(...args: string[]): Promise<{ code: number | null; text: string }> {
    const env = { ...process.env, ...this.env };
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: tmpdir(), env });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        text += chunk;
      });
    }
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, text };
  }

  /** Starts a server that is expected to exit while starting. */
  startAndEnd(shards: number, dataDir = this.dataDir): Promise<{ code: number | null; text: string }> {
    const flags = ["--port", "0", "--admin-key", ADMIN_KEY, "--log-level", "error"];
    return this.skein("serve", "--data-dir", dataDir, "--shards", String(shards), ...flags);
  }

  /**
   * Returns the client's view once no index is being rebuilt. Reads the indexes one after another, because
   * only two can be loaded at a time.
   */
  async view(): Promise<View> {
    const server = this.server!;
    const list = async () =>
      (await server.get("/v1/indexes")).json.data as unknown as { name: string; status: string }[];
    let view: View = {};
    await eventually(async () => {
      view = {};
      // an index that failed to open is opened again on its next use, so look again until it answers
      for (const { name } of await list()) {
        const seen = await this.#look(name);
        if (seen === undefined) return false;
        view[name] = seen;
      }
      return (await list()).every(({ status }) => status === "active");
    }, "all indexes are active");
    return view;
  }

  /** Returns undefined while the index does not answer. */
  async #look(name: string): Promise<IndexView | undefined> {
    const server = this.server!;
    const exported = await server.raw("GET", `/v1/indexes/${name}/documents/export`);
    const counted = await server.query(name, { q: "*", per_page: 0 });
    if (exported.status !== 200 || counted.status !== 200) return undefined;
    const documents = exported.text.split("\n").filter((line) => line !== "");
    const { found } = counted.json;
    const { data } = (await server.get(`/v1/indexes/${name}`)).json;
    if (found !== documents.length || data.records_count !== found)
      throw new Error(`${name}: ${found} found, ${data.records_count} counted, ${documents.length} exported`);
    const settings = (await server.get(`/v1/indexes/${name}/settings`)).json.data;
    return {
      documents: documents.sort(),
      symbols: settings.symbols_to_index as string[],
      typos: settings.num_typos as number,
    };
  }

  async close(): Promise<void> {
    await this.server?.close();
    rmSync(this.place, { recursive: true, force: true });
  }
}
