// The load of a soak test. Continually replaces documents, or deletes and restores them, while queries run,
// and occasionally swaps the two indexes. The amount of data stays constant, so memory must too.

import { generateCatalogue } from "../catalogue/generate.js";
import { Random } from "../random.js";

export const ADMIN_KEY = "soak-admin-key-0123456789abcdef";
const DOCUMENTS = 5_000;
const BATCH = 100;
const WRITE_PAUSE_MS = 20;
const SWAP_EVERY = 200;
const QUERY_CONNECTIONS = 3;
const STATUS_NO_ANSWER = 0;

export class SoakLoad {
  /** Query latencies (ms) since the last sample. */
  #latencies: number[] = [];
  queries = 0;
  writes = 0;
  failed = 0;
  readonly #catalogue: string[];
  readonly #words: string[];
  #over = false;

  constructor(
    private readonly url: string,
    seed: number,
  ) {
    this.#catalogue = [...generateCatalogue(DOCUMENTS, seed)];
    const text = this.#catalogue.slice(0, 500).join(" ");
    this.#words = [...new Set(text.match(/[a-z]{3,}/g) ?? ["a"])];
  }

  /** Returns the latencies since the last call, ascending, and clears them. */
  takeLatencies(): number[] {
    const taken = this.#latencies.sort((a, b) => a - b);
    this.#latencies = [];
    return taken;
  }

  async prepare(schema: unknown): Promise<void> {
    for (const name of ["live", "next"]) {
      await this.#must("POST", "/v1/indexes", JSON.stringify({ name, schema }));
      await this.#must("POST", `/v1/indexes/${name}/documents/import`, this.#catalogue.join("\n"));
    }
  }

  /** Runs the load until `stop`. */
  async run(seed: number): Promise<void> {
    const queries = Array.from({ length: QUERY_CONNECTIONS }, (_, i) => this.#ask(new Random(seed + i + 1)));
    await Promise.all([this.#write(new Random(seed)), ...queries]);
  }

  stop(): void {
    this.#over = true;
  }

  async #ask(random: Random): Promise<void> {
    while (!this.#over) {
      const words = Array.from({ length: random.from(1, 3) }, () => random.pick(this.#words)).join(" ");
      const body = JSON.stringify({ q: random.below(6) === 0 ? "*" : words, per_page: 20 });
      const started = performance.now();
      const status = await this.#send("POST", "/v1/indexes/live/query", body);
      this.#latencies.push(performance.now() - started);
      this.queries++;
      if (status !== 200) this.failed++;
    }
  }

  async #write(random: Random): Promise<void> {
    while (!this.#over) {
      const first = random.below(DOCUMENTS - BATCH);
      const documents = this.#catalogue.slice(first, first + BATCH);
      const index = `/v1/indexes/${random.pick(["live", "next"])}`;
      const ids = documents.map((text) => (JSON.parse(text) as { id: string }).id);
      const kind = random.below(4);
      if (kind === 0) {
        await this.#expect(
          "POST",
          `${index}/documents/batch`,
          JSON.stringify({ action: "delete", documents: ids }),
        );
      }
      await this.#expect("POST", `${index}/documents/batch`, `{"documents":[${documents.join(",")}]}`);
      if (this.writes++ % SWAP_EVERY === SWAP_EVERY - 1) {
        await this.#expect("POST", "/v1/indexes/live/swap-with", JSON.stringify({ target_index: "next" }));
      }
      await new Promise((resolve) => setTimeout(resolve, WRITE_PAUSE_MS));
    }
  }

  async #expect(method: string, path: string, body: string): Promise<void> {
    if ((await this.#send(method, path, body)) !== 200) this.failed++;
  }

  async #must(method: string, path: string, body: string): Promise<void> {
    const status = await this.#send(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered with ${status}`);
  }

  /** Resolves with the status, or 0 if there was no response. */
  async #send(method: string, path: string, body: string): Promise<number> {
    try {
      const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
      const reply = await fetch(`${this.url}${path}`, { method, headers, body });
      await reply.arrayBuffer();
      return reply.status;
    } catch {
      return STATUS_NO_ANSWER;
    }
  }
}
