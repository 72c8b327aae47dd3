// A server on which tests can stop an index's spreading halfway and block or kill shards, and the checks that
// spreading tests need.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { ServerFaultPoint } from "../../../server/ground/fault.js";
import type { ShardFaultPoint } from "../../../shards/fault.js";
import type { SpreadPoint } from "../faults/fault-scenarios.js";
import { World } from "../faults/fault-world.js";
import { BlockedShards } from "../world/blocked-shards.js";
import { eventually, expectStatus, TestServer } from "../world/harness.js";

export const HOME_DOCUMENTS_MAX = 60;
/**
 * How often a fault point fails while armed. Enough for a whole test, because the server retries about once a
 * second.
 */
const TURNS = 600;

export const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "group", type: "string", facet: true },
    { name: "number", type: "int32", sort: true },
  ],
};

export interface Thing {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly number: number;
}

export function things(from: number, count: number, word = "thing"): Thing[] {
  return Array.from({ length: count }, (_, i) => {
    const number = from + i;
    return { id: `d${number}`, title: `${word} number${number}`, group: `g${number % 4}`, number };
  });
}

export class SpreadingWorld {
  readonly faults = new World();
  readonly blocked = new BlockedShards();
  readonly #kills = mkdtempSync(join(tmpdir(), "skein-kill-"));
  readonly server: TestServer;
  readonly shards: number;
  #made = 0;

  constructor({
    shards = 3,
    frontEnds = 2,
    config = {},
  }: { shards?: number; frontEnds?: number; config?: object }) {
    this.shards = shards;
    const { limits = {}, ...others } = config as { limits?: object };
    const killer = join(import.meta.dirname, "../faults/shard-killer.mjs");
    const modules = [this.faults.env.NODE_OPTIONS, this.blocked.env.NODE_OPTIONS, `--import=${killer}`];
    this.server = new TestServer({
      shards,
      frontEnds,
      dataDir: this.faults.dataDir,
      env: {
        ...this.faults.env,
        ...this.blocked.env,
        SKEIN_TEST_KILL_DIR: this.#kills,
        NODE_OPTIONS: modules.join(" "),
      },
      config: {
        ...others,
        // A thread blocked by a test must not be mistaken for a hanging one.
        limits: { homeDocumentsMax: HOME_DOCUMENTS_MAX, shardHangMsMax: 3_600_000, ...limits },
      },
    });
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.faults.close();
    this.blocked.close();
    rmSync(this.#kills, { recursive: true, force: true });
  }

  /**
   * Creates an index and returns its home shard's number. Tests must create all indexes with this function,
   * because it derives the home shard from the number of indexes created so far.
   */
  async make(
    name: string,
    body: object = { schema: SCHEMA },
    documents: readonly object[] = [],
  ): Promise<number> {
    expectStatus(await this.server.post("/v1/indexes", { name, ...body }), 201);
    if (documents.length > 0) await this.write(name, documents);
    return ++this.#made % this.shards;
  }

  async write(index: string, documents: readonly object[]): Promise<void> {
    const reply = await this.server.post(`/v1/indexes/${index}/documents/batch`, { documents });
    expect([reply.status, reply.json.data?.succeeded], reply.text).toEqual([200, documents.length]);
  }

  /** Number of shards that contain the index; NaN if a shard has not restarted yet. */
  async shardsOf(index: string): Promise<number> {
    return Number((await this.server.get(`/v1/indexes/${index}/stats`)).json.data?.shards);
  }

  spread(index: string): Promise<void> {
    return eventually(async () => (await this.shardsOf(index)) === this.shards, `${index} is spread`);
  }

  /**
   * Grows the index, waits until its spreading reaches the point, and runs `work` while the server retries
   * the spreading and fails at the point every time.
   */
  whileHeld<T>(point: SpreadPoint, grow: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
    return this.whileFailing(point, async (isPassed) => {
      await grow();
      await eventually(async () => isPassed(), `${point} is reached`);
      return work();
    });
  }

  /** Runs `work` while the point fails each time it is reached. */
  async whileFailing<T>(
    point: ServerFaultPoint | ShardFaultPoint,
    work: (isPassed: () => boolean) => Promise<T>,
  ): Promise<T> {
    this.faults.arm(point, ...new Array<"throw">(TURNS).fill("throw"));
    const left = () => readdirSync(join(this.faults.faults, point)).length;
    const armed = left();
    try {
      return await work(() => left() < armed);
    } finally {
      this.faults.disarm(point);
    }
  }

  /** Ends the shard's thread and waits until it is gone. */
  async kill(shard: number): Promise<void> {
    const order = join(this.#kills, String(shard));
    writeFileSync(order, "");
    await eventually(async () => !existsSync(order), `shard ${shard} has ended`);
  }

  async found(index: string, filter?: string): Promise<number> {
    const reply = await this.server.query(index, {
      q: "*",
      per_page: 0,
      ...(filter && { filter_by: filter }),
    });
    expect(reply.status, reply.text).toBe(200);
    return reply.json.found;
  }

  /**
   * Expects an export, a query with facets, reads of single documents and the document count to show exactly
   * these documents, each once.
   */
  expectThings(index: string, expected: readonly Thing[]): Promise<void> {
    return expectThings(this.server, index, expected);
  }
}

/**
 * Expects an export, a query with facets, reads of single documents and the document count to show exactly
 * these documents, each once.
 */
export async function expectThings(
  server: TestServer,
  index: string,
  expected: readonly Thing[],
): Promise<void> {
  const inOrder = [...expected].sort((a, b) => a.number - b.number);
  const exported = await server.raw("GET", `/v1/indexes/${index}/documents/export`);
  expectStatus(exported, 200);
  const lines = exported.text.split("\n").filter((line) => line !== "");
  const stored = lines.map((line) => JSON.parse(line) as Thing).sort((a, b) => a.number - b.number);
  expect(stored).toEqual(inOrder);
  const reply = await server.query(index, {
    q: "*",
    sort_by: "number:asc",
    per_page: 250,
    facets: ["group"],
  });
  expectStatus(reply, 200);
  expect(reply.json.found).toBe(expected.length);
  expect(reply.json.hits.map(({ document }) => document)).toEqual(inOrder.slice(0, 250));
  const { facets } = reply.json as unknown as { facets: { group: Record<string, number> } };
  const counts: Record<string, number> = {};
  for (const { group } of expected) counts[group] = (counts[group] ?? 0) + 1;
  expect(facets.group).toEqual(counts);
  for (const one of [inOrder[0]!, inOrder[inOrder.length >> 1]!, inOrder.at(-1)!])
    expect((await server.get(`/v1/indexes/${index}/documents/${one.id}`)).json.data).toEqual(one);
  expect((await server.get(`/v1/indexes/${index}`)).json.data.records_count).toBe(expected.length);
}
