// Rules about the wording and width of comments and pages. Reads text only.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { everything, ROOT } from "./tree.js";
import { expectNone } from "./violations.js";

const COLUMNS_MAX = 110;

/** "Some of which" and "keeps track of which" are plain English; another noun before "of which" seldom is. */
const NOT_A_SHARE =
  "(?<!(?:all|both|each|some|several|many|most|few|none|one|two|three|half|parts?|first|second|third|last|[0-9]+|track) )";

/** Phrases that slow a native reader down, each with the plain word for it. */
const TICS: Readonly<Record<string, string>> = {
  "so many": "the number, `count`",
  anew: "again",
  "for ever": "forever, permanently",
  "any more": "no longer",
  whoever: "the caller, or the noun",
  "by itself": "alone, on its own, automatically",
  [`${NOT_A_SHARE}of which`]: "and its, whose",
  "as far as it is": "if, where",
  "(?<!there )is no (?!longer|more|less|larger|smaller|slower|faster|worse|better)[a-z]+": "is not, has no",
  "has not (?:a|the|one)": "has no, lacks",
  "lets? go of": "releases",
  "one behind the other": "in sequence",
  "(?<!one )who asks": "the caller",
  "hold(?:s|ing)? against": "compares with",
};

/** Sentences that need one of these phrases: the file, the words and the reason. */
const EXCEPTIONS: readonly { readonly path: string; readonly words: string; readonly why: string }[] = [
  { path: "test/tidy/comments.test.ts", words: "of which", why: "explains the rule" },
  {
    path: "engine-wasm/assembly/vector/comparison.ts",
    words: "so many can be in flight",
    why: '"so" is a conjunction here',
  },
];

interface Line {
  readonly path: string;
  readonly number: number;
  readonly text: string;
}

function linesOf(path: string, text: string): Line[] {
  return text.split("\n").map((line, i) => ({ path, number: i + 1, text: line }));
}

/** All comment lines, and comments at the end of code lines. */
const COMMENTS = everything.flatMap(({ path, text }) =>
  linesOf(path, text).flatMap((line) => {
    const comment = /^\s*(?:\/\/|\/?\*).*|(?<=[;,{(\])]) \/\/ .*/.exec(line.text);
    return comment === null ? [] : [{ ...line, comment: comment[0] }];
  }),
);

const PAGES = [...pagesIn(""), ...pagesIn("docs")].flatMap((path) =>
  linesOf(path, readFileSync(join(ROOT, path), "utf8")),
);

function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: folder !== "" })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(".md"));
}

/** True for drawings, tables, and lines that have no space to break at. */
function mayBeWide(comment: string): boolean {
  const text = comment.replace(/^\s*(?:\/\/|\/?\*+) ?/, "");
  return /\S {2,}\S|^ {2,}\S|^\|/.test(text) || !text.trim().includes(" ");
}

describe("comments", () => {
  test(`have at most ${COLUMNS_MAX} columns, except drawings and tables`, () => {
    const wide = COMMENTS.filter(({ text, comment }) => text.length > COLUMNS_MAX && !mayBeWide(comment));
    expectNone(
      wide.map(({ path, number }) => `${path}:${number}`),
      "A wider line does not fit next to another file, and its changes are hard to see.",
    );
  });
});

describe("comments and pages", () => {
  test("use the plain word, or have a reason", () => {
    const used = new Set<(typeof EXCEPTIONS)[number]>();
    const found = [...COMMENTS.map((line) => ({ ...line, text: line.comment })), ...PAGES].flatMap(
      ({ path, number, text }) =>
        Object.entries(TICS).flatMap(([tic, plain]) => {
          const match = new RegExp(`\\b(?:${tic})\\b`, "i").exec(text);
          if (match === null) return [];
          const exception = EXCEPTIONS.find(({ path: of, words }) => of === path && text.includes(words));
          if (exception === undefined) return [`${path}:${number} "${match[0]}": ${plain}`];
          used.add(exception);
          return [];
        }),
    );
    expectNone(
      found,
      "A reader stumbles over these. Write the plain word, or add an exception with its reason.",
    );
    expect(EXCEPTIONS.filter((exception) => !used.has(exception))).toEqual([]);
  });
});
