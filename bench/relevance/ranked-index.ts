// An index on the server whose ranking is measured: adds documents to it, and returns a query's ids, best
// first. Sends only requests that any client could send, and knows nothing about how the server ranks.

import { setTimeout as sleep } from "node:timers/promises";
import type { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { upload } from "../../server/cli/upload/sender.js";

const BATCH_DOCUMENTS = 2000;
const PARALLEL_REQUESTS = 2;
const PAGE_DOCUMENTS_MAX = 250;
const POLL_MS = 200;

export const MODES = ["keyword", "auto", "hybrid", "semantic"] as const;
export type Mode = (typeof MODES)[number];

export interface Asking {
  readonly mode: Mode;
  /** Maximum number of documents requested. */
  readonly depth: number;
  /** False turns query understanding off. */
  readonly ai?: boolean;
}

export class RankedIndex {
  private constructor(
    private readonly client: ApiClient,
    readonly name: string,
    readonly documents: number,
  ) {}

  /**
   * Creates an index whose `fields` are all text, and adds every document. Throws if the server refuses a
   * document.
   */
  static async fill(
    client: ApiClient,
    name: string,
    fields: readonly string[],
    settings: Readonly<Record<string, unknown>>,
    documents: AsyncIterable<Record<string, unknown>>,
  ): Promise<RankedIndex> {
    await createIndex(client, name, { fields: fields.map((field) => ({ name: field, type: "string" })) });
    if (Object.keys(settings).length > 0)
      await client.json("PATCH", `/v1/indexes/${name}/settings`, settings);
    const counts = await upload(client, numbered(documents), {
      index: name,
      action: "create",
      batchSize: BATCH_DOCUMENTS,
      parallel: PARALLEL_REQUESTS,
      onProgress: () => {},
      onRejected: ({ at, error }) => {
        throw new Error(`${name}: document ${at} was refused: ${error}`);
      },
    });
    const index = new RankedIndex(client, name, counts.succeeded);
    await index.#embedded();
    return index;
  }

  /** Opens an existing index. */
  static async open(client: ApiClient, name: string): Promise<RankedIndex> {
    const { records_count } = await readStats(client, name);
    const index = new RankedIndex(client, name, records_count);
    await index.#embedded();
    return index;
  }

  /** Resolves once every document has its vector; at once if the index has no vectors. */
  async #embedded(): Promise<void> {
    for (;;) {
      const { embedder } = await readStats(this.client, this.name);
      if (embedder.source === "none" || (embedder.state === "ready" && embedder.pending === 0)) return;
      if (embedder.state === "failed") throw new Error(`${this.name}: its vectors cannot be computed`);
      await sleep(POLL_MS);
    }
  }

  /** Sends a query as a user would type it and returns the document ids. Requests one page at a time. */
  async rank(q: string, { mode, depth, ai }: Asking): Promise<string[]> {
    const ids: string[] = [];
    for (let page = 1; ids.length < depth; page++) {
      const answer = (await this.client.json("POST", `/v1/indexes/${this.name}/query`, {
        q,
        page,
        per_page: Math.min(PAGE_DOCUMENTS_MAX, depth),
        search_mode: mode,
        ai,
        fields: ["id"],
      })) as { hits: { document: { id: string } }[]; total_pages: number };
      ids.push(...answer.hits.map((hit) => hit.document.id));
      if (page >= answer.total_pages) break;
    }
    return ids.slice(0, depth);
  }

  /** Runs `rank` for all texts, a few at a time. The results are in the order of the texts. */
  async rankAll(texts: readonly string[], asking: Asking): Promise<string[][]> {
    const rankings: string[][] = new Array(texts.length);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < texts.length; at = next++)
        rankings[at] = await this.rank(texts[at]!, asking);
    };
    await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, work));
    return rankings;
  }

  /** Removes the index from the server. */
  async drop(): Promise<void> {
    await this.client.json("DELETE", `/v1/indexes/${this.name}`);
  }
}

interface Stats {
  readonly records_count: number;
  readonly embedder: { readonly state: string; readonly source: string; readonly pending: number };
}

async function readStats(client: ApiClient, name: string): Promise<Stats> {
  return ((await client.json("GET", `/v1/indexes/${name}/stats`)) as { data: Stats }).data;
}

async function* numbered(documents: AsyncIterable<Record<string, unknown>>) {
  let at = 0;
  for await (const document of documents) yield [{ at: ++at, bytes: Buffer.from(JSON.stringify(document)) }];
}
