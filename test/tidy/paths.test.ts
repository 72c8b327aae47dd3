// Checks that documents and comments name only existing files and folders. Reads text only. A name counts as
// a path in the repository if it begins with one of the repository's folders (`server/http`) or ends like a
// source file or document (`search.ts`, `ranking.md`). It may be a part of a longer path. A name with a
// <placeholder>, a star or braces is a pattern and is not checked.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { describe, test } from "vitest";
import { everything, ROOT } from "./tree.js";
import { expectNone } from "./violations.js";

const FOLDERS = ["server", "shards", "engine-wasm", "test", "bench", "docs", "scripts"];
const DOCUMENTS = filesUnder("docs").filter((path) => path.endsWith(".md"));

/** Runs of characters that can occur in paths, patterns and package names. */
const WORD = /[\w./@*<>{},-]+/g;
const PATH = /^\w[\w./-]*$/;
const LOOKS_LIKE_OURS = new RegExp(`^(?:${FOLDERS.join("|")})/|\\.(?:ts|mjs|md)$`);
/** Build output, which need not exist. */
const BUILT = /^dist\//;

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !path.includes("node_modules/"));
}

/** Returns every name by which a file or folder may be mentioned: every contiguous part of its path. */
function everyName(): Set<string> {
  const names = new Set<string>();
  for (const path of [...ROOT_FILES, ...FOLDERS.flatMap(filesUnder)]) {
    const parts = path.split("/");
    for (let from = 0; from < parts.length; from++)
      for (let to = from + 1; to <= parts.length; to++) names.add(parts.slice(from, to).join("/"));
  }
  return names;
}

const ROOT_FILES = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => entry.name);
const KNOWN = everyName();

function unknownPaths(text: string): string[] {
  return (text.match(WORD) ?? [])
    .map((word) => word.replace(/^(\.\/)+|[.,/]+$/g, ""))
    .filter((word) => PATH.test(word) && LOOKS_LIKE_OURS.test(word) && !BUILT.test(word))
    .filter((word) => !KNOWN.has(word) && !KNOWN.has(word.replace(/\.js$/, ".ts")));
}

/** Returns a source file's comment lines, without web addresses. */
function commentsOf(source: string): string {
  const lines = source.split("\n").filter((line) => /^\s*(\/\/|\/?\*)/.test(line));
  return lines.join("\n").replace(/https?:\/\/\S+/g, "");
}

describe("paths", () => {
  const documents = [...ROOT_FILES.filter((name) => name.endsWith(".md")), ...DOCUMENTS].map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), "utf8"),
  }));

  test("named in documents exist", () => {
    const wrong = documents
      .filter(({ path }) => path !== "CHANGELOG.md")
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) =>
          unknownPaths(code as string).map((name) => `${path} names ${name}`),
        ),
      );
    expectNone(wrong, "A reader who follows a name to nothing stops trusting the page.");
  });

  test("linked from documents exist", () => {
    const wrong = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, target]) => target as string)
        .filter((target) => !target.includes("://"))
        .map((target) =>
          normalize(join(dirname(path), target))
            .split(sep)
            .join("/")
            .replace(/\/$/, ""),
        )
        .filter((target) => !KNOWN.has(target))
        .map((target) => `${path} links to ${target}`),
    );
    expectNone(wrong, "A link that leads nowhere was right until somebody moved its target.");
  });

  test("named in comments exist", () => {
    const wrong = everything.flatMap(({ path, text }) =>
      unknownPaths(commentsOf(text)).map((name) => `${path} names ${name}`),
    );
    expectNone(wrong, "A comment that sends its reader to a file that has moved costs more than no comment.");
  });
});
