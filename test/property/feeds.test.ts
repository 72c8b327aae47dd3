// Two data sources feed one index, with pushes and deletions between the pieces of their feeds. There are one
// to eight shards, and an index is spread over them either from the start or once it has some documents.
// After each step, the index must have the documents of the naive model (test/oracle/feed-run.ts), and each
// run must end as the model predicts. SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../bench/random.js";
import { type FeedServer, startFeedServer } from "../e2e/world/feed-server.js";
import {
  documentsOf,
  ended,
  FROM_LOOPBACK,
  makeSource,
  runOf,
  type Source,
  syncNow,
} from "../e2e/world/feeds.js";
import { eventually, expectStatus, TestServer } from "../e2e/world/harness.js";
import { effort } from "../effort.js";
import { DocumentsTwin, type FeedDocument, type FeedEntry, type RunTwin } from "../oracle/feed-run.js";
import { SEED } from "./seed.js";

const SHARD_COUNTS = effort([1, 3, 8], [1, 2, 3, 8]);
/**
 * Number of stories played concurrently, because a story spends most of its time waiting for the server to
 * process feed data.
 */
const TELLERS = 3;
const STORIES = effort(3, 60);
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "price", type: "float" },
  ],
};
/** Fills up the server's read buffer, so that it processes the preceding items without waiting for more. */
const PADDING = " ".repeat(100_000);

const FORMATS = {
  array: {
    format: "json",
    contentType: "application/json",
    head: "[",
    item: (entry: FeedEntry, at: number) => `${at === 0 ? "" : ","}${jsonOf(entry)}`,
    tail: "]",
  },
  lines: {
    format: "json",
    contentType: "application/x-ndjson",
    head: "",
    item: (entry: FeedEntry) => `${jsonOf(entry)}\n`,
    tail: "",
  },
  xml: {
    format: "brandx_merchant",
    contentType: "application/xml",
    head: "<rss><channel>",
    item: (entry: FeedEntry) => `<item>${Object.entries(membersOf(entry)).map(elementOf).join("")}</item>`,
    tail: "</channel></rss>",
  },
} as const;

function membersOf(entry: FeedEntry): object {
  if ("id" in entry) return entry;
  return { ...(entry.broken === null ? {} : { id: entry.broken }), price: "call us" };
}

const jsonOf = (entry: FeedEntry): string => JSON.stringify(membersOf(entry));
const elementOf = ([name, value]: [string, unknown]): string => `<${name}>${value}</${name}>`;

interface Setup {
  readonly format: keyof typeof FORMATS;
  readonly sync_mode: "upsert" | "replace";
  readonly max_delete_ratio: number;
}

/** `source` is 0 or 1. Impossible steps, such as a piece of a feed that is not being read, are skipped. */
type Step =
  | { readonly does: "push"; readonly documents: readonly FeedDocument[] }
  | { readonly does: "delete"; readonly id: string }
  | { readonly does: "begin"; readonly source: number }
  | { readonly does: "piece"; readonly source: number; readonly entries: readonly FeedEntry[] }
  | { readonly does: "end" | "cut" | "cancel"; readonly source: number };

interface Story {
  readonly setups: readonly Setup[];
  /** Documents in the index at the start. */
  readonly documents: readonly FeedDocument[];
  readonly steps: readonly Step[];
}

const id = fc.nat(9).map((n) => `d${n}`);
const document: fc.Arbitrary<FeedDocument> = fc.record({
  id,
  title: fc.constantFrom("chair", "table"),
  price: fc.constantFrom(1, 2.5),
});
const entry: fc.Arbitrary<FeedEntry> = fc.oneof(
  { weight: 3, arbitrary: document },
  { weight: 1, arbitrary: fc.record({ broken: fc.option(id, { freq: 8 }) }) },
);
const source = fc.nat(1);
const doing = <T extends string>(does: T) => fc.constant(does);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      does: doing("push"),
      documents: fc.array(document, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: doing("delete"), id }) },
  { weight: 3, arbitrary: fc.record({ does: doing("begin"), source }) },
  {
    weight: 5,
    arbitrary: fc.record({
      does: doing("piece"),
      source,
      entries: fc.array(entry, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: doing("end"), source }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom("cut" as const, "cancel" as const), source }) },
);
const setup: fc.Arbitrary<Setup> = fc.record({
  format: fc.constantFrom("array", "lines", "xml"),
  sync_mode: fc.constantFrom("upsert", "replace", "replace"),
  max_delete_ratio: fc.constantFrom(0.5, 1, 1),
});
const story: fc.Arbitrary<Story> = fc.record({
  setups: fc.tuple(setup, setup),
  documents: fc.array(document, { minLength: 6, maxLength: 12 }),
  steps: fc.array(step, { minLength: 12, maxLength: 24 }),
});

/** A feed whose pieces arrive when the story says so. */
class SteppedFeed {
  readonly #pieces: (string | null)[] = [];
  #wake = (): void => undefined;

  /** Null ends the feed. */
  push(piece: string | null): void {
    this.#pieces.push(piece);
    this.#wake();
  }

  async *body(): AsyncGenerator<Buffer> {
    for (;;) {
      while (this.#pieces.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const piece = this.#pieces.shift()!;
      if (piece === null) return;
      yield Buffer.from(piece + PADDING);
    }
  }
}

/** Plays one story on one server. */
class Telling {
  readonly #server: TestServer;
  readonly #feeds: FeedServer;
  readonly #index: string;
  readonly #setups: readonly Setup[];
  readonly #twin = new DocumentsTwin();
  readonly #sources: Source[] = [];
  readonly #runs: ({ id: number; twin: RunTwin; feed: SteppedFeed } | null)[] = [null, null];

  constructor(server: TestServer, feeds: FeedServer, index: string, setups: readonly Setup[]) {
    this.#server = server;
    this.#feeds = feeds;
    this.#index = index;
    this.#setups = setups;
  }

  async tell(steps: readonly Step[]): Promise<void> {
    await this.#server.createIndex(this.#index, SCHEMA);
    for (const [at, { format, ...setup }] of this.#setups.entries()) {
      const url = this.#feeds.url(this.#pathOf(at));
      const body = { url, format: FORMATS[format].format, ...setup };
      this.#sources.push(await makeSource(this.#server, this.#index, body));
    }
    for (const step of [...steps, ...([0, 1] as const).map((at) => ({ does: "end", source: at }) as const)]) {
      await this.#do(step);
      expect(await documentsOf(this.#server, this.#index)).toEqual(this.#twin.documents);
    }
    expectStatus(await this.#server.delete(`/v1/indexes/${this.#index}`), 200);
  }

  #pathOf(source: number): string {
    return `/${this.#server.url.split(":").at(-1)}/${this.#index}/${source}`;
  }

  async #do(step: Step): Promise<void> {
    const path = `/v1/indexes/${this.#index}/documents`;
    if (step.does === "push") {
      expectStatus(await this.#server.post(`${path}/batch`, { documents: step.documents }), 200);
      for (const document of step.documents) this.#twin.put(document);
    } else if (step.does === "delete") {
      const isKnown = this.#twin.get(step.id) !== undefined;
      expectStatus(await this.#server.delete(`${path}/${step.id}`), isKnown ? 200 : 404);
      this.#twin.delete(step.id);
    } else if (step.does === "begin") await this.#begin(step.source);
    else if (step.does === "piece") await this.#piece(step.source, step.entries);
    else await this.#end(step.source, step.does);
  }

  /** Returns once the feed has been requested, which means that the run has begun. */
  async #begin(source: number): Promise<void> {
    if (this.#runs[source] !== null) return;
    const { format, sync_mode, max_delete_ratio: ratio } = this.#setups[source]!;
    const feed = new SteppedFeed();
    const asked = new Promise<void>((resolve) => {
      this.#feeds.route(this.#pathOf(source), {
        headers: { "content-type": FORMATS[format].contentType },
        body: () => {
          resolve();
          return feed.body();
        },
      });
    });
    feed.push(FORMATS[format].head);
    const twin = this.#twin.beginRun(sync_mode === "replace" ? { ratio } : null);
    this.#runs[source] = { id: await syncNow(this.#server, this.#sources[source]!), twin, feed };
    await asked;
  }

  /** Returns once all items are written. */
  async #piece(source: number, entries: readonly FeedEntry[]): Promise<void> {
    const run = this.#runs[source];
    if (run === null || run === undefined) return;
    const { item } = FORMATS[this.#setups[source]!.format];
    run.feed.push(entries.map((entry, i) => item(entry, run.twin.items + i)).join(""));
    run.twin.batch(entries);
    await eventually(async () => {
      const counts = await runOf(this.#server, this.#sources[source]!, run.id);
      const { documents_imported, documents_unchanged, documents_failed } = counts;
      return documents_imported + documents_unchanged + documents_failed === run.twin.items;
    }, "the piece is written");
  }

  async #end(source: number, how: "end" | "cut" | "cancel"): Promise<void> {
    const run = this.#runs[source];
    if (run === null || run === undefined) return;
    this.#runs[source] = null;
    const { twin, feed } = run;
    const { path } = this.#sources[source]!;
    const { format } = this.#setups[source]!;
    const isCut = how === "cut" && format !== "lines";
    if (how === "cancel") expectStatus(await this.#server.post(`${path}/runs/${run.id}/cancel`), 200);
    else if (!isCut) feed.push(FORMATS[format].tail);
    feed.push(null);
    const isEmpty = format === "lines" && twin.items === 0;
    const expected =
      how === "cancel" ? twin.cancel() : isCut || isEmpty ? twin.fail("SK-DS-520") : twin.end();
    expect(await ended(this.#server, this.#sources[source]!, run.id)).toMatchObject(expected);
  }
}

describe("runs beside other writes", () => {
  let servers: TestServer[];
  let feeds: FeedServer;
  let stories = 0;

  beforeAll(async () => {
    feeds = await startFeedServer();
    const config = { feeds: { ...FROM_LOOPBACK.feeds, concurrency: TELLERS * 2 } };
    const random = new Random(SEED);
    servers = await Promise.all(
      SHARD_COUNTS.map((shards, i) => {
        // A story has at most ten documents, so an index with a limit of 2 to 9 may be spread in the middle
        // of it.
        const limits = i % 2 === SEED % 2 ? {} : { homeDocumentsMax: random.from(2, 9) };
        return TestServer.start({ shards, config: { ...config, limits } });
      }),
    );
  });

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await feeds.close();
  });

  const seeds = Array.from({ length: TELLERS }, (_, i) => SEED + i);
  test.concurrent.each(seeds)("end as the twin predicts (seed %i)", async (seed) => {
    const property = fc.asyncProperty(story, async ({ setups, documents, steps }) => {
      const index = `story-${++stories}`;
      await Promise.all(
        servers.map((server) =>
          new Telling(server, feeds, index, setups).tell([{ does: "push", documents }, ...steps]),
        ),
      );
    });
    await fc.assert(property, { seed, numRuns: STORIES, endOnFailure: true });
  });
});
