// Repository rules that neither the compiler nor the linter checks: which folder may import which, where a
// foreign engine may be used, what a file must not contain. Every failure explains its rule. Reads source
// text only; imports and runs nothing.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "vitest";
import { declaredNames, exportedNames, importedNames } from "./names.js";
import { everything, product, ROOT, tools } from "./tree.js";
import { expectNone, linesMatching } from "./violations.js";
import { WINGS } from "./wings.js";

const LINES_MAX = 400;
/** Files that may exceed the length limit, each with its reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  "engine-wasm/assembly/segment/postings.ts":
    "one cursor over one format; its functions share the decoded block",
  "engine-wasm/host/instance/engine.ts": "one method per kernel, most of them one call with its contract",
};
const DESCRIBE_LINES_MAX = 150;

const FOLDERS = new Set(product.map((source) => dirname(source.path)));

/** Returns a file's room: its folder, or the file itself if the folder has subfolders (main.ts, fleet.ts). */
function room(path: string): string {
  const folder = dirname(path);
  const isHall = [...FOLDERS].some((other) => other.startsWith(`${folder}/`));
  return isHall ? path : folder;
}

/** "server/search/matching/plan.ts" -> "search" */
function wing(path: string): string {
  return path.split("/")[1] ?? "";
}

const SHARD_DOORS = ["shards/protocol", "shards/query", "shards/storage"];

function engineDoor(target: string): boolean {
  return target.startsWith("engine-wasm/host/") || target === "engine-wasm/assembly/layout.ts";
}

function mayImport(from: string, target: string): boolean {
  if (from.startsWith("server/")) {
    return target.startsWith("server/") || SHARD_DOORS.includes(floor(target)) || engineDoor(target);
  }
  if (from.startsWith("shards/")) return target.startsWith("shards/") || engineDoor(target);
  if (from.startsWith("engine-wasm/host/")) return engineDoor(target);
  return target.startsWith("engine-wasm/assembly/");
}

/** "server/http/routes/keys.ts" -> "server/http" */
function floor(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

/** Forbidden imports within a wing, the engine or the shards. Each violation prints `why`. */
const SHUT_DOORS: { from: RegExp; to: RegExp; why: string }[] = [
  {
    from: /^server\/fleet\/threads\//,
    to: /^server\/(fleet\/owner|catalog)\//,
    why: "threads carry messages and know nothing of indexes",
  },
  {
    from: /^server\/ground\/jobs\//,
    to: /^server\/(?!ground\/(jobs\/|errors\.ts|log\.ts))/,
    why: "a queue knows nothing of the work",
  },
  {
    from: /^server\/ground\/outbound\//,
    to: /^server\/(?!ground\/(outbound\/|jobs\/|errors\.ts))/,
    why: "code that fetches from addresses of strangers knows neither feeds nor tenants",
  },
  {
    from: /^server\/ground\/(errors|limits|log)\.ts/,
    to: /^server\/ground\/[a-z-]+\//,
    why: "everything stands on them",
  },
  {
    from: /^server\/documents\/(feeds|mapping|formats)\//,
    to: /^server\/(ground\/outbound|documents\/(sources|ingest)|fleet)\//,
    why: "reading and mapping are pure computation",
  },
  {
    from: /^shards\/storage\//,
    to: /^shards\/(query|segments|protocol|analysis|index)\//,
    why: "a store knows keys and bytes",
  },
  { from: /^shards\/(segments|protocol|query)\//, to: /^shards\/index\//, why: "an index is made of them" },
  {
    from: /^shards\/(protocol|analysis)\//,
    to: /^shards\/(query|segments|storage)\//,
    why: "messages are bytes and names",
  },
  {
    from: /^engine-wasm\/assembly\/(memory|text|json|segment|columns)\//,
    to: /^engine-wasm\/assembly\/(program|match|filter|rank|score|search|expand|build|merge)\//,
    why: "what a segment is does not depend on who reads it",
  },
];

/**
 * Files that may import each package. A thread pool has two ends: the file that owns the threads and the file
 * that runs in them.
 */
const FOREIGN_ENGINES: Record<string, string[]> = {
  "uWebSockets.js": [
    "server/http/transport/load-uws.ts",
    "server/http/transport/uws-transport.ts",
    "server/http/transport/uws-exchange.ts",
  ],
  piscina: [
    "server/fleet/threads/shard-life.ts",
    "shards/worker.ts",
    "server/documents/ingest/intake-pool.ts",
    "server/documents/ingest/intake-worker.ts",
    "server/documents/sources/feed-pool.ts",
    "server/query-log/analytics/analytics-pool.ts",
    "server/coach/coach-pool.ts",
    "server/indexes/embedders/trainer-pool.ts",
    "server/indexes/embedders/trainer-worker.ts",
  ],
  "classic-level": ["shards/storage/level-store.ts"],
  pino: ["server/ground/log.ts"],
  "prom-client": ["server/ground/metrics/exposition.ts"],
  "node-cron": ["server/documents/sources/schedule.ts"],
  "fast-xml-parser": ["server/documents/feeds/xml-values.ts"],
  "@streamparser/json": ["server/documents/feeds/json-reader.ts"],
};

describe("imports", () => {
  test("run server -> shards (three doors) -> engine-wasm (host, layout), never back", () => {
    const wrong = product.flatMap((source) =>
      source.imports
        .filter((target) => !mayImport(source.path, target))
        .map((target) => `${source.path} imports ${target}`),
    );
    expectNone(
      wrong,
      "A shard must run without a server and the engine without both; the doors are the only contact.",
    );
  });

  test("from a server wing go to the wings below it", () => {
    const wrong = product
      .filter(({ path }) => path.startsWith("server/"))
      .flatMap(({ path, imports }) => {
        const own = wing(path);
        const standsOn: readonly string[] | undefined = WINGS[own];
        if (standsOn === undefined) return [`${path} belongs to no wing`];
        return imports
          .filter((target) => target.startsWith("server/") && wing(target) !== own)
          .filter((target) => !standsOn.includes(wing(target)))
          .map((target) => `${path} imports ${target}`);
      });
    expectNone(wrong, "A wing that knows the floors above it cannot be understood or tested alone.");
  });

  test("between wings follow the order of their table, and each of its entries is used", () => {
    const wings = Object.keys(WINGS);
    const upwards = wings.flatMap((from) =>
      (WINGS[from] ?? [])
        .filter((to) => wings.indexOf(to) >= wings.indexOf(from))
        .map((to) => `${from} may import ${to}, which stands above it`),
    );
    const used = new Set(
      product.flatMap(({ path, imports }) => imports.map((target) => `${wing(path)} ${wing(target)}`)),
    );
    const unused = wings.flatMap((from) =>
      (WINGS[from] ?? [])
        .filter((to) => !used.has(`${from} ${to}`))
        .map((to) => `${from} never imports ${to}`),
    );
    expectNone(
      [...upwards, ...unused],
      "The table is the floor plan: it has no cycle and no door to nowhere.",
    );
  });

  test("do not bypass a room's closed door", () => {
    const wrong = product.flatMap((source) =>
      SHUT_DOORS.filter((door) => door.from.test(source.path)).flatMap((door) =>
        source.imports
          .filter((target) => door.to.test(target))
          .map((target) => `${source.path} imports ${target}: ${door.why}`),
      ),
    );
    expectNone(wrong, "A lower room that knows an upper one cannot be understood or tested alone.");
  });

  test("form no cycle between rooms", () => {
    const rooms = new Map<string, Set<string>>();
    for (const source of product) {
      const own = room(source.path);
      const others = rooms.get(own) ?? new Set();
      for (const target of source.imports) if (room(target) !== own) others.add(room(target));
      rooms.set(own, others);
    }
    expectNone(
      circles(rooms),
      "Rooms in a cycle are one room with walls in the way; move their shared part to a third room.",
    );
  });

  test("resolve to files, and the product imports neither tests nor benchmarks nor scripts", () => {
    const wrong = everything.flatMap((source) =>
      source.imports
        .filter((target) => !existsSync(join(ROOT, target)) && !target.startsWith("dist/"))
        .map((target) => `${source.path} imports ${target}, which does not exist`),
    );
    expectNone(wrong, "An import that resolves to nothing only works by accident.");
  });

  test("form no cycle between files", () => {
    const files = new Map(everything.map((source) => [source.path, new Set(source.imports)]));
    expectNone(
      circles(files),
      "Files in a cycle can only be understood together, and their load order is an accident.",
    );
  });

  test("reach each foreign engine from one file only", () => {
    const wrong = [...product, ...tools].flatMap((source) =>
      source.packages
        .filter((name) => FOREIGN_ENGINES[name] !== undefined && !FOREIGN_ENGINES[name].includes(source.path))
        .map((name) => `${source.path} imports ${name}; allowed in ${FOREIGN_ENGINES[name]!.join(", ")}`),
    );
    expectNone(wrong, "Each foreign engine has its own rules; a single file knows them and can be replaced.");
  });

  test("name only declared packages, and every declared package is used", () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    const runtime = Object.keys(manifest.dependencies);
    const all = [...runtime, ...Object.keys(manifest.devDependencies)];
    const undeclared = everything.flatMap((source) =>
      source.packages
        .filter((name) => !(product.includes(source) ? runtime : all).includes(name))
        .map((name) => `${source.path} imports ${name}, which package.json does not declare`),
    );
    const used = new Set(product.flatMap((source) => source.packages));
    const unused = runtime
      .filter((name) => !used.has(name))
      .map((name) => `${name} is declared but not used`);
    expectNone(
      [...undeclared, ...unused],
      "Undeclared packages break a fresh install; unused ones are only risk.",
    );
  });
});

/** Returns the graph's cycles as "a -> b -> a"; at least one if there are any. */
function circles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) {
      found.push([...trail.slice(seenAt), path].join(" -> "));
      return;
    }
    if (finished.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

describe("exports", () => {
  test.each([
    ["the host, the shards and the server", (path: string) => !path.startsWith("engine-wasm/assembly/")],
    ["the assembly", (path: string) => path.startsWith("engine-wasm/assembly/")],
  ])("have unique names in %s", (_where, belongs) => {
    const files = new Map<string, string[]>();
    for (const source of product.filter(({ path }) => belongs(path))) {
      for (const name of new Set(declaredNames(source)))
        files.set(name, [...(files.get(name) ?? []), source.path]);
    }
    const twice = [...files].filter(([, paths]) => paths.length > 1);
    expectNone(
      twice.map(([name, paths]) => `${name} is exported by ${paths.join(" and ")}`),
      "A name that means two things has to be looked up each time it is read.",
    );
  });

  test("are all used by another file", () => {
    const used = new Set(everything.flatMap(importedNames));
    const dead = product
      .filter((source) => source.path !== "engine-wasm/assembly/index.ts")
      .flatMap((source) => exportedNames(source).map((name) => ({ source, name })))
      .filter(({ source, name }) => !used.has(`${source.path}#${name}`) && !used.has(`${source.path}#*`))
      .map(({ source, name }) => `${source.path} exports ${name}, which nobody imports`);
    expectNone(dead, "An export is a promise to other files; a promise to nobody hides dead code.");
  });
});

describe("files", () => {
  test("touch linear memory only through mem.ts", () => {
    const raw = /\b(load|store)<|\bv128\.(load|store)\w*[(<]|\bmemory\.(copy|fill)\(/;
    const wrong = product
      .filter(
        (source) =>
          source.path.startsWith("engine-wasm/assembly/") &&
          source.path !== "engine-wasm/assembly/memory/mem.ts",
      )
      .flatMap((source) => linesMatching(source, raw));
    expectNone(
      wrong,
      "Unchecked memory access is fenced into one file, so that a reviewer knows where to look.",
    );
  });

  test(`have at most ${LINES_MAX} lines, or a reason`, () => {
    const long = new Set(
      everything.filter(({ text }) => text.split("\n").length - 1 > LINES_MAX).map(({ path }) => path),
    );
    const unexplained = [...long].filter((path) => LONG_FILES[path] === undefined);
    const outdated = Object.keys(LONG_FILES)
      .filter((path) => !long.has(path))
      .map((path) => `${path} is listed but short`);
    expectNone(
      [...unexplained, ...outdated],
      "Split a file by idea, never to fit; name the reason to keep it whole.",
    );
  });

  test(`describe each topic of a test in at most ${DESCRIBE_LINES_MAX} lines`, () => {
    const long = everything.flatMap(({ path, text }) => {
      const topics = text.match(/^describe\b.*?^\}\);$/gms) ?? [];
      return topics
        .map((topic) => ({ title: topic.split("\n")[0], lines: topic.split("\n").length }))
        .filter(({ lines }) => lines > DESCRIBE_LINES_MAX)
        .map(({ title, lines }) => `${path} ${title} has ${lines} lines`);
    });
    expectNone(long, "A describe is about one topic; sharedServer lets several describes share a server.");
  });

  test("open with a comment that says what they own", () => {
    const silent = everything
      .filter((source) => !/^(#!.*\n)?\/[/*]/.test(source.text))
      .map((source) => source.path);
    expectNone(silent, "The first lines tell a newcomer whether to read on.");
  });

  test("contain no loose ends", () => {
    const loose =
      /\b(TO[D]O|FIX[M]E|X[X]X)\b|@ts-(ig[n]ore|noch[e]ck)|\bas an[y]\b|\b(test|it|describe)\.(on[l]y|ski[p])\(|not implemente[d]/;
    const wrong = everything.flatMap((source) => linesMatching(source, loose));
    expectNone(wrong, "Work left for later is never found again; do it now, or open an issue.");
  });

  test("are in rooms named after what they do", () => {
    const wrong = everything.filter((source) =>
      /(^|\/)(utils?|common|helpers?|misc)(\/|\.ts$)/.test(source.path),
    );
    expectNone(
      wrong.map((source) => source.path),
      "A catch-all folder grows without end; a helper lives with its only owner.",
    );
  });
});
