// Markdown rules: line width, links to existing headings, and an architecture map that lists every wing of
// the server. Reads text only.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "./tree.js";
import { expectNone } from "./violations.js";
import { WINGS } from "./wings.js";

const COLUMNS_MAX = 110;
/** Folders of hand-written pages. Generated benchmark pages may be as wide as their tables. */
const FOLDERS = ["docs", "bench/peers"];
const SKIPPED = /(^|\/)(?:node_modules|target)\//;

const PAGES = new Map(
  [
    ...readdirSync(ROOT),
    ...FOLDERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`),
    ),
  ]
    .map((path) => path.split(sep).join("/"))
    .filter((path) => path.endsWith(".md") && !SKIPPED.test(path))
    .map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
);

/** Returns a page's lines outside code blocks, with their numbers. */
function proseOf(text: string): { line: string; number: number }[] {
  let inCode = false;
  return text.split("\n").flatMap((line, i) => {
    const isFence = /^\s*```/.test(line) && !/```.+```/.test(line);
    if (isFence) inCode = !inCode;
    return inCode || isFence ? [] : [{ line, number: i + 1 }];
  });
}

/**
 * True for tables, indented code blocks and lines that cannot be broken because they are one word, such as a
 * link or a quoted name.
 */
function mayBeWide(line: string): boolean {
  if (/^\s*\|/.test(line) || /^ {4,}/.test(line)) return true;
  const words = line.replace(/`[^`]*`/g, (code) => code.replaceAll(" ", "_")).trim();
  return !words.replace(/^(?:[-*+]|\d+\.) /, "").includes(" ");
}

/** Returns the anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

function anchorsOf(text: string): Set<string> {
  const headings = proseOf(text).flatMap(({ line }) => /^#+ (.+)$/.exec(line)?.[1] ?? []);
  return new Set(headings.map(anchorOf));
}

describe("Markdown", () => {
  test(`has at most ${COLUMNS_MAX} columns, except tables, code and long links`, () => {
    const wide = [...PAGES].flatMap(([path, text]) =>
      proseOf(text)
        .filter(({ line }) => [...line].length > COLUMNS_MAX && !mayBeWide(line))
        .map(({ number }) => `${path}:${number}`),
    );
    expectNone(wide, "Next to code, a wider line wraps and its changes are hard to see.");
  });

  test("has a chapter in docs/ARCHITECTURE.md for each wing, in the order of their table", () => {
    const map = PAGES.get("docs/ARCHITECTURE.md") ?? "";
    const chapters = [...map.matchAll(/^### ([a-z-]+): /gm)].map(([, wing]) => wing);
    expect(chapters, "A wing without a chapter is a room that the map does not show.").toEqual(
      Object.keys(WINGS),
    );
  });

  test("links to headings that exist", () => {
    const wrong = [...PAGES].flatMap(([path, text]) =>
      [...text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)].flatMap(([, file, anchor]) => {
        if (file!.includes("://")) return [];
        const target =
          file === ""
            ? path
            : normalize(join(dirname(path), file!))
                .split(sep)
                .join("/");
        const page = PAGES.get(relative(".", target).split(sep).join("/"));
        if (page === undefined) return [`${path} links to ${target}`];
        return anchorsOf(page).has(anchor!) ? [] : [`${path} links to ${target}#${anchor}`];
      }),
    );
    expectNone(wrong, "A link to a renamed heading opens the top of the page, and the reader has to search.");
  });
});
