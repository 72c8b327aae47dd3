// Documents that the front-end renders without the shard: the bytes are the same as the shard's, and each
// document is fetched only once. Pages with many or large documents are left to the shard.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PLAIN_ANALYSIS } from "../../../../../engine-wasm/host/instance/workbench.js";
import type { FetchThere } from "../../../../../server/fleet/local/local-documents.js";
import { LocalDocuments } from "../../../../../server/fleet/local/local-documents.js";
import { TurnBudget } from "../../../../../server/fleet/local/turn-budget.js";
import { ReplyTooLargeError } from "../../../../../server/fleet/threads/shard-errors.js";
import { run } from "../../../../../server/ground/jobs/work.js";
import {
  encodeFetch,
  type FetchedDocument,
  type FetchOptions,
} from "../../../../../shards/protocol/fetch.js";
import { shower } from "../../../../../shards/query/shown-document.js";
import { effort } from "../../../../effort.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { makeRecord } from "../../record.js";

const workbench = (await loadEngine("checked")).workbench();
const record = makeRecord();
const CACHE_BYTES = 1024 * 1024;
/** A time budget in ms that rendering never uses up, however busy the machine is. */
const TURN_MS = 1e9;

/** Returns a shard that has these documents (by seq), and the seqs requested from it. */
function shard(documents: ReadonlyMap<number, object>): { fetchThere: FetchThere; asked: number[][] } {
  const asked: number[][] = [];
  const fetchThere: FetchThere = function* (seqs, options) {
    asked.push([...seqs]);
    encodeFetch({ uid: record.uid, seqs: [...seqs], ...options }); // throws if the request is invalid
    const show = shower(options, PLAIN_ANALYSIS, workbench);
    const shown = seqs.map((seq) => {
      const document = documents.get(seq);
      if (document === undefined) return show(null);
      return show({ internal: true, id: `d${seq}`, raw: Buffer.from(JSON.stringify(document)) });
    });
    const bytes = shown.reduce((sum, { document, highlight }) => sum + document.length + highlight.length, 0);
    if (bytes > (options.bytesMax ?? Number.POSITIVE_INFINITY)) throw new ReplyTooLargeError();
    return shown;
  };
  return { fetchThere, asked };
}

function texts(shown: FetchedDocument[]): string[][] {
  return shown.map(({ id, document, highlight }) =>
    [id, document, highlight].map((part) => Buffer.from(part).toString()),
  );
}

const OPTIONS: FetchOptions[] = [
  {},
  { fields: ["title"] },
  { excludeFields: ["title", "size"] },
  {
    highlight: {
      fields: [{ name: "title", language: 0, sku: false, infix: false }],
      words: [{ terms: ["lamp"], prefixes: ["la"], typos: [], infixes: [], sequences: [] }],
      snippetTokens: 3,
      startTag: "<b>",
      endTag: "</b>",
      escapeHtml: true,
    },
  },
];

test("shows what the shard would show, whatever was shown before, and fetches nothing twice", async () => {
  const made = fc.record({
    title: fc.constantFrom("a lamp", "Lámpara & <lamp>", ""),
    size: fc.nat(),
    _own: fc.nat(),
  });
  const page = fc.tuple(fc.uniqueArray(fc.nat(12), { maxLength: 8 }), fc.constantFrom(...OPTIONS));
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { maxLength: 10 }),
      fc.array(page, { maxLength: 8 }),
      async (all, pages) => {
        const stored = new Map(all.map((document, seq) => [seq, { id: `d${seq}`, ...document }]));
        const { fetchThere, asked } = shard(stored);
        const local = new LocalDocuments(workbench, new TurnBudget(TURN_MS), CACHE_BYTES);
        for (const [seqs, options] of pages) {
          const shown = await local.show(record, seqs, options, fetchThere);
          expect(texts(shown)).toEqual(texts(await run(shard(stored).fetchThere(seqs, options))));
        }
        const times = new Map<number, number>();
        for (const seq of asked.flat()) times.set(seq, (times.get(seq) ?? 0) + 1);
        for (const [seq, count] of times) if (stored.has(seq)) expect(count).toBe(1);
      },
    ),
    { numRuns: effort(30, 500) },
  );
});

test("pages of many or large documents are shown by the shard, and an oversized page is refused", async () => {
  const [long, middling] = ["lamp ".repeat(8_000), "lamp ".repeat(6_000)];
  const textOf = (seq: number): string => (seq < 20 ? long : seq < 40 ? middling : "lamp");
  const stored = new Map(
    Array.from({ length: 120 }, (_, seq) => [seq, { id: `d${seq}`, title: textOf(seq) }]),
  );
  const { fetchThere, asked } = shard(stored);
  const local = new LocalDocuments(workbench, new TurnBudget(TURN_MS), CACHE_BYTES);
  const seqs = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
  /** Requests a page and returns the seqs that were requested from the shard. */
  const askedFor = async (page: number[], options: FetchOptions = {}): Promise<number[][]> => {
    asked.length = 0;
    expect(await local.show(record, page, options, fetchThere)).toHaveLength(page.length);
    return [...asked];
  };
  for (let time = 0; time < 2; time++) expect(await askedFor(seqs(40, 65))).toEqual([seqs(40, 65)]);
  // Fetched to be rendered here, but together they are too large, so the shard is asked to render them.
  expect(await askedFor(seqs(0, 10), { fields: ["id"] })).toEqual([seqs(0, 10), seqs(0, 10)]);
  expect(await askedFor(seqs(0, 10), { fields: ["id"] })).toEqual([seqs(0, 10)]);
  expect(await askedFor([12])).toEqual([[12]]); // a long document
  expect(await askedFor([12, 40])).toEqual([[12, 40]]);
  for (const seq of seqs(20, 10)) await askedFor([seq]);
  expect(await askedFor(seqs(20, 5))).toEqual([]);
  // All of them are cached, but together they are too large.
  expect(await askedFor(seqs(20, 10))).toEqual([seqs(20, 10)]);
  const refused = async (page: number[]) => await local.show(record, page, { bytesMax: 1_000 }, fetchThere);
  await expect(refused(seqs(20, 2))).rejects.toThrow(ReplyTooLargeError);
  await expect(refused(seqs(20, 10))).rejects.toThrow(ReplyTooLargeError);
});

test("when this thread's turn is over, the shard shows the rest", async () => {
  const stored = new Map([0, 1, 2].map((seq) => [seq, { id: `d${seq}`, title: "lamp" }]));
  const { fetchThere, asked } = shard(stored);
  const turn = new TurnBudget(TURN_MS);
  const local = new LocalDocuments(workbench, turn, CACHE_BYTES);
  const titles = OPTIONS[1]!;
  const shown = texts(await local.show(record, [0, 1, 2], titles, fetchThere));
  const whole = texts(await local.show(record, [0, 1, 2], {}, fetchThere));
  turn.spend(TURN_MS);
  asked.length = 0;
  expect(texts(await local.show(record, [0, 1, 2], {}, fetchThere))).toEqual(whole); // cached
  expect(asked).toEqual([]);
  expect(texts(await local.show(record, [0, 1, 2], titles, fetchThere))).toEqual(shown);
  expect(asked).toEqual([[0, 1, 2]]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(texts(await local.show(record, [0, 1, 2], titles, fetchThere))).toEqual(shown);
  expect(asked).toHaveLength(1);
});
