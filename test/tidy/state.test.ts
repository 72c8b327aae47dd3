// Where mutable state is allowed. In the server, only in objects created by the modules in server/start; work
// that repeats on a timer must be a job. In the engine, only in structs that belong to one run.
import { describe, expect, test } from "vitest";
import { moduleState } from "./module-state.js";
import { product, type Source } from "./tree.js";
import { expectNone, linesMatching } from "./violations.js";

/**
 * The module-level variables in the server that `moduleState` may find. A comment at each variable explains
 * why it is harmless.
 */
const KEPT_STATE = [
  "server/catalog/schema/resolved-schema.ts resolved",
  "server/question/words/record-terms.ts known",
  "server/question/words/term-facts.ts known",
  "server/search/matching/planned-shape.ts planned",
  "server/question/words/word-cuts.ts segmenter",
  "server/indexes/curation.ts knownBytes",
  "server/documents/ingest/intake-worker.ts workbench",
  "server/documents/sources/feed-worker.ts workbench",
  "server/query-log/analytics/analytics-worker.ts opened",
  ...["typed", "term", "extra", "missing", "rows"].map(
    (name) => `server/question/words/typos/typo-cost.ts ${name}`,
  ),
];

/**
 * Module-level engine variables. A comment at each variable says that it exists once per instance or that it
 * is a second return value.
 */
const KEPT_ENGINE_STATE = [
  ...["top", "inside", "scratchTop", "reached", "confined", "passStart", "passTop", "passEnd"].map(
    (name) => `memory/arena.ts ${name}`,
  ),
  "memory/utf8.ts pointBytes",
  "segment/postings.ts varintCursor",
  "status.ts current",
  ...["stage1", "entries", "pool", "growth", "overrides", "overrideCount", "wideOverrides"].map(
    (name) => `text/unicode.ts ${name}`,
  ),
].map((name) => `engine-wasm/assembly/${name}`);

/**
 * The thread watchdog, and the part of a front-end thread that reports to it. They run longer than the jobs,
 * so they may use timers of their own.
 */
const WATCHES = [
  "server/fleet/threads/watchdog.ts",
  "server/http/frontends/growth-watch.ts",
  "server/http/frontends/thread/front-end-worker.ts",
];

/**
 * Files outside server/start that may also create instances of the classes in `MADE_ONCE`. The instances in
 * uncounted-services.ts count what must not count.
 */
const MAKERS = [
  "server/http/uncounted-services.ts",
  "server/http/search-parts.ts",
  "server/http/thread-counts.ts",
  "server/http/frontends/thread/front-end.ts",
];

/** Classes and functions whose instances exist once per thread. */
const MADE_ONCE = [
  "Lifecycle",
  "Intake",
  "Headroom",
  "QueriedIndexes",
  "Throttle",
  "Recorder",
  "AnswerCache",
  "BodyMemory",
  "UnsentBytes",
  "DocumentQuotas",
  "ByteQuotas",
  "SlowQueryLog",
  "Jobs",
  "Usage",
  "MonthCounts",
  "SharedAmount",
  "QueryLoad",
  "Scrape",
  "Backups",
];

describe("state", () => {
  test("of the server is in objects, not in modules", () => {
    const kept = new Set(KEPT_STATE);
    const server = product.filter(({ path }) => path.startsWith("server/"));
    const wrong = moduleState(server).filter((name) => !kept.delete(name));
    expectNone(
      [...wrong, ...[...kept].map((name) => `${name} no longer exists`)],
      "Several servers, and several HTTP threads, run in one process; state shared by accident is shared wrongly.",
    );
  });

  test("of the engine is in a run's structs, not in modules", () => {
    const kept = new Set(KEPT_ENGINE_STATE);
    const engine = product.filter(({ path }) => path.startsWith("engine-wasm/assembly/"));
    const wrong = moduleState(engine).filter((name) => !kept.delete(name));
    expectNone(
      [...wrong, ...[...kept].map((name) => `${name} no longer exists`)],
      "It would outlive the kernel that sets it, and nobody would see which run it belongs to: make it a field of a struct in scratch.",
    );
  });

  test("is detected in every form", () => {
    const source = (path: string, text: string): Source => ({ path, text, imports: [], packages: [] });
    const own = source(
      "server/own.ts",
      `let turns = 0; const queue: number[] = []; const seen = new Set<string>(); const jobs = new Jobs();
       export const taken = { first: 0 }; const table = new Map([[1, 2]]); const sorted = [2, 1].sort(); const word = /x/;
       const bytes = new Uint8Array(8); bytes[0] = 1; const counts = { all: 0 }; const kept = {}; const old = [1];
       export function go() { queue.push(table.get(1)); seen.add(""); counts.all++; delete kept.one; old[0] ??= 2; const own = []; own.push(1); }`,
    );
    const other = source(
      "server/other.ts",
      `import { taken } from "./own.js"; export const first = () => (taken.first = 1);`,
    );
    expect(moduleState([own, other]).map((name) => name.replace("server/own.ts ", ""))).toEqual([
      "turns",
      "jobs",
      "queue",
      "seen",
      "counts",
      "kept",
      "old",
      "taken",
    ]);
  });

  test("changes on a timer only in jobs, and in the thread watchdogs, which outlive them", () => {
    const wrong = product
      .filter(({ path }) => path.startsWith("server/") && path !== "server/ground/jobs/jobs.ts")
      .filter(({ path }) => !WATCHES.includes(path))
      .flatMap((source) => linesMatching(source, /\bsetInterval\(/));
    expectNone(wrong, "Nobody would stop it, wait for it or log its failure.");
  });

  test("is created only by its makers", () => {
    const making = new RegExp(`\\bnew (${MADE_ONCE.join("|")})\\(`);
    const wrong = product
      .filter(({ path }) => path.startsWith("server/") && !path.startsWith("server/start/"))
      .filter(({ path }) => !MAKERS.includes(path))
      .flatMap((source) => linesMatching(source, making));
    expectNone(wrong, "A second instance would count and remember something different.");
  });
});
