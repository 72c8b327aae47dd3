// What a search leaves behind when it fails: a line in the slow-query log, and no lent buffer.
import { describe, expect, it } from "vitest";
import { SkeinError } from "../../../../server/ground/errors.js";
import { RequestLife } from "../../../../server/ground/jobs/request-life.js";
import { run, settled } from "../../../../server/ground/jobs/work.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { Recorder } from "../../../../server/ground/metrics/recorder.js";
import { scanBody } from "../../../../server/question/request/body-scan.js";
import { PreparedShapes } from "../../../../server/question/request/prepared-shapes.js";
import { readQueryRequest } from "../../../../server/question/request/query-request.js";
import { type Found, NO_EXPLANATIONS, NO_HITS } from "../../../../server/search/found.js";
import { RankedRows } from "../../../../server/search/matching/merge.js";
import { observedSearch, type QueryBody } from "../../../../server/search/observed-search.js";
import { HitSizes } from "../../../../server/search/query-cost.js";
import { ReplyBuffers } from "../../../../server/search/reply-writer.js";
import { NOTHING_COMPARED } from "../../../../server/search/semantic/nearest.js";
import { makeRecord, queried } from "../record.js";

const RECORD = makeRecord();
const INDEX = queried(RECORD);

function bodyOf(value: object): QueryBody {
  const scan = scanBody(Buffer.from(JSON.stringify(value)))!;
  return { bytes: scan.bytes, askedBy: scan.askedBy, scan, value: () => value };
}

/** Two documents, so that a small limit refuses the reply. */
function foundTwo(): Found {
  const rows = new RankedRows();
  rows.add(0, 2, 1, 0, 0);
  rows.add(0, 1, 1, 0, 0);
  const document = Buffer.from(`{"id":"1","title":"${"x".repeat(500)}"}`);
  const one = { id: Buffer.from("1"), document, highlight: new Uint8Array(0) };
  return {
    request: readQueryRequest({ q: "*" }, INDEX, DEFAULT_LIMITS),
    mode: "keyword",
    hits: { rows, documents: [one, one], explanations: NO_EXPLANATIONS },
    relatedHits: NO_HITS,
    compared: NOTHING_COMPARED,
    suggestions: [],
    aiContext: null,
    curated: false,
    found: 2,
    foundByWords: 2,
    outOf: 2,
    facets: [],
    memory: null,
  };
}

/** A search whose documents are found without an index. */
class World {
  readonly slow: unknown[] = [];
  readonly replies = new ReplyBuffers();

  search(value: object, bytesMax: number): unknown {
    const preparedShapes = new PreparedShapes(DEFAULT_LIMITS);
    const plain = bodyOf({ q: "*", filter_by: "price:1" });
    const first = readQueryRequest(plain.value(), INDEX, DEFAULT_LIMITS);
    preparedShapes.remember(plain.scan!, INDEX, "", first);
    const searching = {
      reads: {
        recall: () => null,
        documents: () => 2,
        scale: () => ({ documents: 2, documentsMax: 2 }),
        answer: () => settled(foundTwo()),
      },
      limits: DEFAULT_LIMITS,
      queriedIndexes: { of: () => INDEX },
      preparedShapes,
      recorder: new Recorder(),
      slowQueries: { ended: (...told: unknown[]) => this.slow.push(told.at(-1)) },
      logWriter: { ids: { next: () => ({ atMs: 0, counter: 0, frontEnd: 0 }) }, searched: () => undefined },
      hitSizes: new HitSizes(),
      replies: this.replies,
    };
    const bounds = { bytesMax, understood: false, within: "" };
    const wanted = { id: "request-1", life: new RequestLife(), reserve: () => undefined };
    return run(
      observedSearch(searching as never, { record: RECORD } as never, bodyOf(value), bounds, wanted),
    );
  }
}

describe("a search that fails", () => {
  it("tells the slow-query log about a wrong filter in a body of a known shape", () => {
    const world = new World();
    const refused = expect.objectContaining({ code: "SK-SE-400" });
    expect(() => world.search({ q: "*", filter_by: "nowhere:1" }, 10_000)).toThrow(SkeinError);
    expect(world.slow).toEqual([refused]);
  });

  it("returns the buffer of a reply that is too large", () => {
    const world = new World();
    const lent = world.replies.take();
    lent.release();
    expect(() => world.search({ q: "*" }, 600)).toThrow(expect.objectContaining({ code: "SK-SE-413" }));
    expect(world.slow).toHaveLength(1);
    expect(world.replies.take()).toBe(lent);
  });
});
