// The repository's source files as the tidy rules see them: text, imported files, imported packages.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

export interface Source {
  /** Path from the repository root, with forward slashes. */
  path: string;
  text: string;
  /** Paths of imported files in the repository. */
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
export function resolveImport(from: string, name: string): string {
  const target = normalize(join(dirname(from), name))
    .split(sep)
    .join("/");
  if (/\.(json|mjs)$/.test(target)) return target;
  return `${target.replace(/\.(js|ts)$/, "")}.ts`;
}

export const product = ["server", "shards", "engine-wasm"].flatMap(sourcesUnder);
export const tools = ["scripts", "bench"].flatMap(sourcesUnder);
const tests = sourcesUnder("test");
export const everything = [...product, ...tools, ...tests];
