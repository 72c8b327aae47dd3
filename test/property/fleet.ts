// Three servers side by side, with 1, 8, and either 2 or 3 shards; the long run has more servers and all four
// counts. They receive the same writes and queries, and each is compared with the oracle. On some servers, an
// index starts in one shard and is spread over all shards later in its story. Knows nothing about how stories
// are generated.
import { expect } from "vitest";
import { Random } from "../../bench/random.js";
import { eventually, expectStatus, TestServer } from "../e2e/world/harness.js";
import type { Hit } from "../e2e/world/reply.js";
import { effort } from "../effort.js";
import { type FailureNote, noteForFailure } from "../failure-notes.js";
import type { Oracle } from "../oracle/engine.js";
import type { Answer, Query } from "../oracle/query.js";
import { type Document, type Json, parseJson, printJson, type Schema } from "../oracle/segments/values.js";
import type { Settings } from "../oracle/settings.js";
import { type SuggestInput, suggest } from "../oracle/suggest.js";
import type { Change } from "./curation-generators.js";
import type { Write } from "./generators.js";
import { SEED } from "./seed.js";

interface Shape {
  readonly shards: number;
  /** Default: the same number as in all other tests. */
  readonly frontEnds?: number;
  /** An index with at most this many documents stays in one shard. Default: it is spread at once. */
  readonly homeDocumentsMax?: number;
}

/**
 * Default maximum for `homeDocumentsMax`. Stories have up to 29 documents, except those about larger indexes.
 */
const HOME_DOCUMENTS_MAX = 24;
/** A limit that is never reached, so the index stays in its home shard. */
const ALWAYS_HOME = 1_000_000;

/** Draws a number from 2 to `most`; small numbers are more likely. */
export function someHomeDocuments(random: Random, most = HOME_DOCUMENTS_MAX): number {
  return 2 + Math.floor((most - 1) * random.next() ** 2);
}

/**
 * Returns the number of shards and the limits of a usual run's servers; they depend on the seed, like the
 * stories. For `homeDocumentsMost`, see the parameter `most` of someHomeDocuments.
 */
function usualShapes(homeDocumentsMost?: number): readonly Shape[] {
  const random = new Random(SEED);
  const homely = (shards: number): Shape => ({
    shards,
    homeDocumentsMax: someHomeDocuments(random, homeDocumentsMost),
  });
  const [first, second] = random.next() < 0.5 ? [2, 3] : [3, 2];
  return effort(
    [{ shards: 1 }, { shards: first }, homely(8)],
    [
      { shards: 1 },
      { shards: first },
      homely(second),
      homely(8),
      homely(first),
      { shards: 8 },
      { shards: 3, homeDocumentsMax: ALWAYS_HOME },
    ],
  );
}

/** The server caches its second answer to a query, and takes the third from the cache (answer-cache.ts). */
const TIMES_ASKED = 3;
/** One in this many queries is repeated. */
const REPEATED_EACH = 3;

/** A rule or a synonym group: its number in the oracle, and its path below the index on each server. */
interface Wish {
  kind: Change["kind"];
  number: number;
  paths: string[];
}

export class Fleet implements FailureNote {
  private indexes = 0;
  private readonly wishes = new Map<string, Wish[]>();

  private constructor(
    private readonly servers: TestServer[],
    private readonly shapes: readonly Shape[],
  ) {}

  /** Shown with a failure: the seed and the servers with which to repeat the run. */
  text(): string {
    return `SKEIN_PROPERTY_SEED=${SEED} repeats this run, with servers of ${JSON.stringify(this.shapes)}`;
  }

  static async start(shapes: readonly Shape[] = usualShapes()): Promise<Fleet> {
    const flags = ["--engine", "checked"];
    const servers = await Promise.all(
      shapes.map(({ homeDocumentsMax, ...shape }) => {
        const config = homeDocumentsMax === undefined ? {} : { limits: { homeDocumentsMax } };
        return TestServer.start({ ...shape, flags, config });
      }),
    );
    return new Fleet(servers, shapes);
  }

  /** Starts the usual servers for stories with `documents` documents. */
  static forDocuments(documents: number): Promise<Fleet> {
    return Fleet.start(usualShapes(documents));
  }

  /** Describes a server in a failure message. */
  nameOf(server: number): string {
    const { shards, ...others } = this.shapes[server]!;
    return `${shards} shards ${JSON.stringify(others)}`;
  }

  /** Waits until the index is spread over as many shards as its size requires. */
  async placed(index: string): Promise<void> {
    await this.everywhere(async (server, i) => {
      const { shards, homeDocumentsMax = 0 } = this.shapes[i]!;
      await eventually(async () => {
        const { records_count, shards: lies } = (await server.get(`/v1/indexes/${index}/stats`)).json.data;
        return Number(records_count) <= homeDocumentsMax || lies === shards;
      }, "an index that has grown is spread");
    });
  }

  /** Stops the servers. Fails if an engine assertion or background work failed, which no response shows. */
  async close(): Promise<void> {
    await this.everywhere((server) => server.close());
    const failures = this.servers.flatMap(({ brokenAssertions, failedWork }) => [
      ...brokenAssertions,
      ...failedWork,
    ]);
    expect(failures).toEqual([]);
  }

  /** Kills all servers with kill -9, then starts them from the data on disk. */
  async killAndRestart(): Promise<void> {
    await this.everywhere((server) => server.stop("SIGKILL"));
    await this.everywhere((server) => server.launch());
  }

  /** Creates an index with this schema and returns its name. */
  async createIndex(schema: Schema, settings: Partial<Settings> = {}): Promise<string> {
    const name = `random-${++this.indexes}`;
    await this.everywhere(async (server) => {
      expectStatus(await server.post("/v1/indexes", { name, schema, settings }), 201);
    });
    return name;
  }

  async dropIndex(name: string): Promise<void> {
    await this.everywhere(async (server) => expectStatus(await server.delete(`/v1/indexes/${name}`), 200));
  }

  /** Applies a write to the oracle and to all servers; all must refuse the same documents. */
  async applyWrite(index: string, oracle: Oracle, write: Write): Promise<void> {
    const path = `/v1/indexes/${index}/documents`;
    if (write.kind === "batch") {
      const refused = oracle.write(write.action, write.documents);
      const body = printJson({ action: write.action, documents: write.documents });
      await this.everywhere(async (server) => {
        const reply = await server.post(`${path}/batch`, body);
        expectStatus(reply, 200);
        expect(reply.json.data.errors.map((error) => error.index)).toEqual(refused);
      });
      return;
    }
    if (write.kind === "patch") {
      const known = oracle.get(write.id) !== undefined;
      const refused = oracle.write("update", [{ ...write.changes, id: write.id }]);
      await this.everywhere(async (server) => {
        const reply = await server.raw("PATCH", `${path}/${encodeURIComponent(write.id)}`, {
          body: printJson(write.changes),
        });
        expectStatus(reply, !known ? 404 : refused.length > 0 ? 400 : 200);
      });
      return;
    }
    if (write.kind === "delete") {
      const known = oracle.get(write.id) !== undefined;
      oracle.write("delete", [{ id: write.id }]);
      await this.everywhere(async (server) => {
        expectStatus(await server.delete(`${path}/${encodeURIComponent(write.id)}`), known ? 200 : 404);
      });
      return;
    }
    oracle.deleteWhere(write.filter);
    await this.everywhere(async (server) => {
      expectStatus(await server.delete(`${path}?filter_by=${encodeURIComponent(write.filter)}`), 200);
    });
  }

  /** Changes settings, a ranking rule or a synonym group in the oracle and on all servers. */
  async applyChange(index: string, oracle: Oracle, change: Change): Promise<void> {
    const path = `/v1/indexes/${index}`;
    if (change.kind === "settings") {
      oracle.changeSettings(change.settings);
      await this.everywhere(async (server) => {
        expectStatus(await server.patch(`${path}/settings`, change.settings), 200);
        const isActive = async () => (await server.get(path)).json.data.status === "active";
        await eventually(isActive, "documents are re-indexed");
      });
      return;
    }
    const isRule = change.kind === "rule";
    const put = (number?: number): number =>
      isRule ? oracle.putRule(change.body ?? {}, number) : oracle.putSynonyms(change.body ?? {}, number);
    const wishes = this.wishes.get(index) ?? [];
    this.wishes.set(index, wishes);
    const own = wishes.filter(({ kind }) => kind === change.kind);
    if (change.action === "create") {
      const route = `${path}/${isRule ? "ranking-rules" : "synonyms"}`;
      const paths = await this.everywhere(async (server) => {
        const reply = await server.post(route, change.body);
        expectStatus(reply, 201);
        return `${route}/${reply.json.data.id}`;
      });
      wishes.push({ kind: change.kind, number: put(), paths });
      return;
    }
    if (own.length === 0) return;
    const wish = own[change.which % own.length]!;
    if (change.action === "change") put(wish.number);
    else {
      oracle.remove(wish.number);
      wishes.splice(wishes.indexOf(wish), 1);
    }
    await this.everywhere(async (server, i) => {
      const one = wish.paths[i]!;
      const reply = change.action === "change" ? server.patch(one, change.body) : server.delete(one);
      expectStatus(await reply, 200);
    });
  }

  async compareQueries(index: string, oracle: Oracle, queries: Query[]): Promise<void> {
    for (const [number, query] of queries.entries()) {
      const expected = oracle.search(query);
      for (let times = number % REPEATED_EACH === 0 ? TIMES_ASKED : 1; times > 0; times--) {
        const answers = await this.everywhere((server) => ask(server, index, query));
        answers.forEach((answer, i) => {
          const { vector, ...rest } = query;
          const shown = printJson({ ...rest, vector: vector?.slice(0, 4) ?? null } as unknown as Json);
          expect(answer, `${this.nameOf(i)}, query ${shown}`).toEqual(expected);
        });
      }
    }
  }

  /** Checks that every server answered some searches from its cache, so these were compared too. */
  async compareWasRemembered(): Promise<void> {
    const hits = 'skein_cache_requests_total{cache="answer",result="hit"}';
    await this.everywhere(async (server) => {
      const page = await server.raw("GET", "/metrics");
      expect(
        Number(
          page.text
            .split("\n")
            .find((line) => line.startsWith(hits))
            ?.slice(hits.length),
        ),
      ).toBeGreaterThan(0);
    });
  }

  /** Compares suggestions with the oracle's. No two documents of the index may be equally popular. */
  async compareSuggestions(index: string, oracle: Oracle, inputs: SuggestInput[]): Promise<void> {
    const popularity = oracle.schema.default_sorting_field!;
    for (const input of inputs) {
      const expected = suggest(oracle.documents, popularity, input);
      const replies = await this.everywhere((server) => server.post(`/v1/indexes/${index}/suggest`, input));
      replies.forEach((reply, i) => {
        expectStatus(reply, 200);
        const where = `${this.nameOf(i)}, input ${JSON.stringify(input)}`;
        expect(reply.json.data.suggestions, where).toEqual(expected);
      });
    }
  }

  /** Checks that every stored document equals the oracle's, to the last digit. */
  async compareDocuments(index: string, oracle: Oracle): Promise<void> {
    const expected = canonical(oracle.documents.map(({ embedding, ...shown }) => shown as Document));
    await this.everywhere(async (server, i) => {
      const reply = await server.raw("GET", `/v1/indexes/${index}/documents/export`);
      expectStatus(reply, 200);
      const lines = reply.text.split("\n").filter((line) => line !== "");
      const stored = canonical(lines.map((line) => parseJson(line) as Document));
      expect(stored, `${this.nameOf(i)}, documents`).toEqual(expected);
      const { records_count } = (await server.get(`/v1/indexes/${index}`)).json.data;
      expect(records_count, `${this.nameOf(i)}, count`).toBe(expected.length);
    });
  }

  /** Checks that all servers answer alike, and returns the first server's answers. */
  async compareServers(index: string, queries: Query[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const query of queries) {
      const [first, ...others] = await this.everywhere((server) => ask(server, index, query));
      others.forEach((answer, i) => {
        expect(answer, `${this.nameOf(i + 1)}, query ${JSON.stringify(query)}`).toEqual(first);
      });
      answers.push(first!);
    }
    return answers;
  }

  /** Checks that all servers find the same similar documents, and returns their ids and similarities. */
  async similar(index: string, id: string): Promise<[string, number | null][]> {
    const path = `/v1/indexes/${index}/documents/${id}/similar`;
    const [first, ...others] = await this.everywhere(async (server) => {
      const reply = await server.post(path, { per_page: 50 });
      expectStatus(reply, 200);
      const hits = reply.json.data.hits as unknown as { document: Document; similarity: number | null }[];
      return hits.map(({ document, similarity }): [string, number | null] => [document.id, similarity]);
    });
    others.forEach((hits, i) => {
      expect(hits, `${this.nameOf(i + 1)}, similar to ${id}`).toEqual(first);
    });
    return first!;
  }

  /** Waits until the index's own model has given every document a vector. */
  embedded(index: string): Promise<void> {
    return this.#untilStats(index, "documents have their vectors", ({ embedder }) => {
      const { state, pending, model } = embedder as Record<string, unknown>;
      return state === "ready" && pending === 0 && model !== null;
    });
  }

  /** Waits until no background merge is running. */
  settled(index: string): Promise<void> {
    return this.#untilStats(index, "background merges come to rest", ({ merging }) => merging === false);
  }

  /**
   * Waits until all documents' vectors can be compared, because a start first has to rebuild missing codes.
   */
  comparable(index: string): Promise<void> {
    return this.#untilStats(index, "stored vectors can be compared", ({ embedder }) => {
      return (embedder as Record<string, unknown>).pending === 0;
    });
  }

  #untilStats(
    index: string,
    what: string,
    holds: (stats: Record<string, unknown>) => boolean,
  ): Promise<void> {
    return eventually(async () => {
      const replies = await this.everywhere((server) => server.get(`/v1/indexes/${index}/stats`));
      return replies.every((reply) => holds(reply.json.data));
    }, what);
  }

  everywhere<T>(act: (server: TestServer, i: number) => Promise<T>): Promise<T[]> {
    noteForFailure(this);
    return Promise.all(this.servers.map(act));
  }
}

async function ask(server: TestServer, index: string, query: Query): Promise<Answer> {
  // The oracle only matches words; other tests cover query interpretation. Queries are not logged, because
  // frequent searches would become suggestions the next time the log is read.
  const reply = await server.query(index, { ...query, ai: false, analytics: false });
  expectStatus(reply, 200);
  const { hits, found, total_pages, data, curated_applied, related_hits, suggestions, search_mode } =
    reply.json;
  return {
    mode: search_mode,
    hits: hits.map(({ document, text_match, relevance_bonus, match_type }) => ({
      id: document.id,
      text_match,
      relevance_bonus,
      match_type,
    })),
    found,
    total_pages,
    facets: data.facet_counts.map((facet) => [
      facet.field_name,
      facet.counts.map(({ value, count }) => [value, count]),
    ]),
    curated_applied: curated_applied as boolean,
    related: (related_hits as Hit[]).map(({ document }) => document.id),
    suggestions: (suggestions as { value: string }[]).map(({ value }) => value),
  };
}

/** One text per document, with members and documents in a fixed order. */
function canonical(documents: Document[]): string[] {
  const byName = ([a]: [string, Json], [b]: [string, Json]): number => (a < b ? -1 : 1);
  return documents
    .map((document) => printJson(Object.fromEntries(Object.entries(document).sort(byName))))
    .sort();
}
