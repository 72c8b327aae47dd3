// One index on a running server, as the measuring sees it: documents in, for each query text the ids out, best
// first. Every request is what a client would send; nothing here knows how the server ranks.

import type { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { upload } from "../../server/cli/upload/sender.js";

const BATCH_DOCUMENTS = 2000;
const PARALLEL_REQUESTS = 2;
const PAGE_DOCUMENTS_MAX = 250;

export class RankedIndex {
  private constructor(
    private readonly client: ApiClient,
    readonly name: string,
    readonly documents: number,
  ) {}

  /** An index of `fields`, all text, holding every document. Throws when one of them is refused. */
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
    return new RankedIndex(client, name, counts.succeeded);
  }

  /** Ids of at most `depth` documents for the query as a user would type it, page by page. */
  async rank(q: string, depth: number): Promise<string[]> {
    const ids: string[] = [];
    for (let page = 1; ids.length < depth; page++) {
      const answer = (await this.client.json("POST", `/v1/indexes/${this.name}/query`, {
        q,
        page,
        per_page: Math.min(PAGE_DOCUMENTS_MAX, depth),
        search_mode: "keyword",
        fields: ["id"],
      })) as { hits: { document: { id: string } }[]; total_pages: number };
      ids.push(...answer.hits.map((hit) => hit.document.id));
      if (page >= answer.total_pages) break;
    }
    return ids.slice(0, depth);
  }

  /** `rank` for all texts, a few at a time; answers in the order of the texts. */
  async rankAll(texts: readonly string[], depth: number): Promise<string[][]> {
    const rankings: string[][] = new Array(texts.length);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < texts.length; at = next++) rankings[at] = await this.rank(texts[at]!, depth);
    };
    await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, work));
    return rankings;
  }

  /** Removes the index from the server. */
  async drop(): Promise<void> {
    await this.client.json("DELETE", `/v1/indexes/${this.name}`);
  }
}

async function* numbered(documents: AsyncIterable<Record<string, unknown>>) {
  let at = 0;
  for await (const document of documents) yield [{ at: ++at, bytes: Buffer.from(JSON.stringify(document)) }];
}
