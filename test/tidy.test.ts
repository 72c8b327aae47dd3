// Rules about the repository itself that neither compiler nor linter know: which folder may import which,
// where a foreign engine may be touched, what a file must not contain. Every rule's failure says why the
// rule exists. Reads source text only; nothing is imported or run.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const LINES_MAX = 400;

interface Source {
  /** Path from the repository's root, with forward slashes. */
  path: string;
  text: string;
  /** Paths of imported files of the repository. */
  imports: string[];
  /** Names of imported packages. */
  packages: string[];
}

function sourcesUnder(folder: string): Source[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !path.includes("node_modules/") && !path.startsWith("bench/peers/"))
    .map(readSource);
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), "utf8");
  const names = ts.preProcessFile(text, true, true).importedFiles.map((file) => file.fileName);
  const local = names.filter((name) => name.startsWith("."));
  const foreign = names.filter((name) => !name.startsWith(".") && !name.startsWith("node:"));
  return {
    path,
    text,
    imports: local.map((name) => resolveImport(path, name)),
    packages: foreign.map((name) =>
      name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/"),
    ),
  };
}

/** "./mem" (AssemblyScript) and "./mem.js" (TypeScript) both name the file mem.ts. */
function resolveImport(from: string, name: string): string {
  const target = normalize(join(dirname(from), name))
    .split(sep)
    .join("/");
  if (/\.(json|mjs)$/.test(target)) return target;
  return `${target.replace(/\.(js|ts)$/, "")}.ts`;
}

const product = ["server", "shards", "engine-wasm"].flatMap(sourcesUnder);
const tools = ["scripts", "bench"].flatMap(sourcesUnder);
const tests = sourcesUnder("test");
const everything = [...product, ...tools, ...tests];
const byPath = new Map(everything.map((source) => [source.path, source]));

/** Fails with the rule's reason and one line per violation. */
function expectNone(violations: string[], why: string): void {
  expect(violations.length, `${why}\n  ${violations.join("\n  ")}`).toBe(0);
}

function room(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? `${parts[0]}/${parts[1]}` : parts[0]!;
}

const SHARD_DOORS = ["shards/protocol", "shards/analysis", "shards/storage"];

function engineDoor(target: string): boolean {
  return target.startsWith("engine-wasm/host/") || target === "engine-wasm/assembly/layout.ts";
}

function mayImport(from: string, target: string): boolean {
  if (from.startsWith("server/")) {
    return target.startsWith("server/") || SHARD_DOORS.includes(room(target)) || engineDoor(target);
  }
  if (from.startsWith("shards/")) return target.startsWith("shards/") || engineDoor(target);
  if (from.startsWith("engine-wasm/host/")) return engineDoor(target);
  return target.startsWith("engine-wasm/assembly/");
}

/** Rooms of one floor and everything they must not reach up to. */
const FLOORS: { rooms: RegExp; forbidden: RegExp }[] = [
  {
    rooms: /^server\/(coordinator|ingest|catalog|tenants)\//,
    forbidden: /^server\/(http|cli)\/|^server\/main\.ts/,
  },
  { rooms: /^server\/catalog\//, forbidden: /^server\/(coordinator|ingest)\// },
  { rooms: /^server\/coordinator\//, forbidden: /^server\/ingest\// },
  {
    rooms: /^server\/metrics\//,
    forbidden: /^server\/(http|cli|coordinator|ingest|catalog|tenants)\/|^server\/(main|scrape)\.ts/,
  },
  { rooms: /^server\/(errors|limits|log)\.ts/, forbidden: /^server\/[a-z]+\// },
  {
    rooms: /^shards\/storage\//,
    forbidden: /^shards\/(query|segments|protocol|analysis)\/|^shards\/(worker|shard)\.ts/,
  },
  { rooms: /^shards\/segments\//, forbidden: /^shards\/query\/|^shards\/(worker|shard)\.ts/ },
  { rooms: /^shards\/query\//, forbidden: /^shards\/(worker|shard)\.ts/ },
  {
    rooms: /^shards\/(protocol|analysis)\//,
    forbidden: /^shards\/(query|segments|storage)\/|^shards\/(worker|shard)\.ts/,
  },
];

/** A thread pool has two ends: the file that owns the threads and the file that runs in them. */
const FOREIGN_ENGINES: Record<string, string[]> = {
  "uWebSockets.js": ["server/http/app.ts", "bench/load/baseline-server.ts"],
  piscina: [
    "server/coordinator/shard-life.ts",
    "shards/worker.ts",
    "server/ingest/intake-pool.ts",
    "server/ingest/intake-worker.ts",
  ],
  "classic-level": ["shards/storage/level-store.ts"],
  pino: ["server/log.ts"],
  "prom-client": ["server/metrics/exposition.ts"],
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

  test("stay on their floor or go down inside server and shards", () => {
    const wrong = product.flatMap((source) =>
      FLOORS.filter((floor) => floor.rooms.test(source.path)).flatMap((floor) =>
        source.imports
          .filter((target) => floor.forbidden.test(target))
          .map((target) => `${source.path} imports ${target}`),
      ),
    );
    expectNone(wrong, "A lower room that knows an upper one cannot be understood or tested alone.");
  });

  test("resolve to files, and the product imports neither tests nor benchmarks nor scripts", () => {
    const wrong = everything.flatMap((source) =>
      source.imports
        .filter((target) => !existsSync(join(ROOT, target)) && !target.startsWith("dist/"))
        .map((target) => `${source.path} imports ${target}, which does not exist`),
    );
    expectNone(wrong, "An import that resolves to nothing only works by accident.");
  });

  test("form no circle", () => {
    expectNone(
      circles(),
      "Files in a circle can only be understood together, and their load order is an accident.",
    );
  });

  test("touch each foreign engine in one file only", () => {
    const wrong = [...product, ...tools].flatMap((source) =>
      source.packages
        .filter((name) => FOREIGN_ENGINES[name] !== undefined && !FOREIGN_ENGINES[name].includes(source.path))
        .map((name) => `${source.path} imports ${name}; allowed in ${FOREIGN_ENGINES[name]!.join(", ")}`),
    );
    expectNone(wrong, "Each foreign engine has rules of its own; one file knows them and can be replaced.");
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

/** Every circle once, as "a -> b -> a". */
function circles(): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) {
      found.push([...trail.slice(seenAt), path].join(" -> "));
      return;
    }
    if (finished.has(path)) return;
    for (const target of byPath.get(path)?.imports ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of byPath.keys()) visit(path, []);
  return found;
}

describe("exports", () => {
  test("are all used by another file", () => {
    const used = new Set(everything.flatMap(importedNames));
    const dead = product
      .filter((source) => source.path !== "engine-wasm/assembly/index.ts")
      .flatMap((source) => exportedNames(source).map((name) => ({ source, name })))
      .filter(({ source, name }) => !used.has(`${source.path}#${name}`) && !used.has(`${source.path}#*`))
      .map(({ source, name }) => `${source.path} exports ${name}, which nobody imports`);
    expectNone(dead, "What is exported is promised to others; a promise to nobody hides dead code.");
  });
});

/** "path#name" for every name taken from a file of the repository; "path#*" for a whole namespace. */
function importedNames(source: Source): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const specifier = (node.moduleSpecifier as ts.StringLiteral).text;
      if (!specifier.startsWith(".")) return;
      const target = resolveImport(source.path, specifier);
      const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
      if (ts.isImportDeclaration(node) && node.importClause?.name) names.push(`${target}#default`);
      if (bindings && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) {
        for (const element of bindings.elements) {
          names.push(`${target}#${(element.propertyName ?? element.name).text}`);
        }
      } else if (bindings || ts.isExportDeclaration(node)) names.push(`${target}#*`);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument && ts.isStringLiteral(argument))
        names.push(`${resolveImport(source.path, argument.text)}#*`);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const literal = node.argument.literal as ts.StringLiteral;
      names.push(`${resolveImport(source.path, literal.text)}#*`);
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  return names;
}

/**
 * Names that a file offers. Left out: default exports (workers started by URL), the numbers of layout.ts (the
 * whole set is the format), and types that the same file uses elsewhere: they name parts of a signature.
 */
function exportedNames(source: Source): string[] {
  if (source.path === "engine-wasm/assembly/layout.ts") return [];
  const names: string[] = [];
  for (const statement of parse(source).statements) {
    if (
      ts.isExportDeclaration(statement) &&
      statement.exportClause &&
      ts.isNamedExports(statement.exportClause)
    ) {
      names.push(...statement.exportClause.elements.map((element) => element.name.text));
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    const has = (kind: ts.SyntaxKind): boolean =>
      modifiers?.some((modifier) => modifier.kind === kind) ?? false;
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) continue;
    if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations)
        names.push(declaration.name.getText());
    } else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      const mentions = source.text.match(new RegExp(`\\b${statement.name.text}\\b`, "g"))?.length ?? 0;
      if (mentions === 1) names.push(statement.name.text);
    } else if (
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isEnumDeclaration(statement)
    ) {
      if (statement.name) names.push(statement.name.text);
    }
  }
  return names;
}

function parse(source: Source): ts.SourceFile {
  return ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2023, true);
}

describe("files", () => {
  test("touch linear memory only through mem.ts", () => {
    const raw = /\b(load|store)<|\bv128\.(load|store)\w*[(<]|\bmemory\.(copy|fill)\(/;
    const wrong = product
      .filter((source) => source.path.startsWith("engine-wasm/assembly/") && !source.path.endsWith("/mem.ts"))
      .flatMap((source) => linesMatching(source, raw));
    expectNone(
      wrong,
      "Unchecked memory access is fenced into one file, so that a reviewer knows where to look.",
    );
  });

  test(`have at most ${LINES_MAX} lines`, () => {
    const long = everything
      .map((source) => ({ path: source.path, lines: source.text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX)
      .map(({ path, lines }) => `${path} has ${lines} lines`);
    expectNone(long, "A file that does not fit in the head is two files.");
  });

  test("open with a comment that says what they own", () => {
    const silent = everything
      .filter((source) => !/^(#!.*\n)?\/[/*]/.test(source.text))
      .map((source) => source.path);
    expectNone(silent, "The first lines tell a newcomer whether to read on.");
  });

  test("hold no loose ends", () => {
    const loose =
      /\b(TO[D]O|FIX[M]E|X[X]X)\b|@ts-(ig[n]ore|noch[e]ck)|\bas an[y]\b|\b(test|it|describe)\.(on[l]y|ski[p])\(|not implemente[d]/;
    const wrong = everything.flatMap((source) => linesMatching(source, loose));
    expectNone(wrong, "What is left for later is never found again; do it, or open an issue.");
  });

  test("live in rooms named after what they do", () => {
    const wrong = everything.filter((source) =>
      /(^|\/)(utils?|common|helpers?|misc)(\/|\.ts$)/.test(source.path),
    );
    expectNone(
      wrong.map((source) => source.path),
      "A drawer for everything grows without end; a helper lives with its one owner.",
    );
  });
});

function linesMatching(source: Source, pattern: RegExp): string[] {
  return source.text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${source.path}:${index + 1} ${line.trim()}`] : []));
}
