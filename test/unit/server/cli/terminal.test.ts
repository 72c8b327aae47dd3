// Terminal output for people: tables that fit, hits, progress.
import { afterEach, describe, expect, test, vi } from "vitest";
import { resultLines } from "../../../../server/cli/results.js";
import { displayWidth, oneLine, renderTable, truncate } from "../../../../server/cli/table.js";
import { clock, progressLine, UploadProgress } from "../../../../server/cli/upload/progress.js";

afterEach(() => void vi.restoreAllMocks());

describe("tables", () => {
  test("fit the width, cutting the widest column first and marking what was cut", () => {
    const lines = renderTable(
      [{ title: "id" }, { title: "text" }, { title: "n", align: "right" }],
      [
        ["1", "a rather long text that does not fit into the line", "12"],
        ["22", "short", "3"],
      ],
      30,
    );
    expect(lines).toEqual([
      "id  text                     n",
      "──  ──────────────────────  ──",
      "1   a rather long text th…  12",
      "22  short                    3",
    ]);
  });

  test("count terminal columns, not characters", () => {
    expect(["abc", "日本", "e\u0301", "🙂"].map(displayWidth)).toEqual([3, 4, 1, 2]);
    expect(truncate("日本語のテキスト", 7)).toBe("日本語…");
  });

  test("never pass a document's control characters to the terminal", () => {
    expect(oneLine("a\x1b[31m\tb\r\n\u202ec")).toBe("a [31m b c");
  });
});

/**
 * `EXACT_MATCH` is the text match of a document that contains all words exactly as written. `POINT` is one
 * point of relevance.
 */
const EXACT_MATCH = 2 ** 51 + 15 * 2 ** 47 + 2 ** 46;
const POINT = 2 ** 24;

describe("hits", () => {
  const answer = {
    found: 1234,
    page: 1,
    per_page: 2,
    total_pages: 617,
    search_time_ms: 3,
    hits: [
      {
        document: {
          id: "a1",
          about: "x".repeat(100),
          title: "Trail shoe",
          price: 89.5,
          tags: ["run", "men"],
          o: { x: 1 },
        },
        text_match: EXACT_MATCH + 4 * POINT,
        relevance_bonus: POINT,
      },
      {
        document: { id: "a2", title: "Road shoe", price: 120, tags: ["run"] },
        text_match: EXACT_MATCH + 3 * POINT,
      },
    ],
    data: {
      facet_counts: [
        {
          field_name: "brand",
          counts: [
            { value: "Acme", count: 1200 },
            { value: "Zed", count: 34 },
          ],
        },
      ],
    },
  };

  test("show id, title, short fields and score, then facets and the count", () => {
    expect(resultLines(answer, 80)).toEqual([
      "id  title       price  tags      score",
      "──  ──────────  ─────  ────────  ─────",
      "a1  Trail shoe   89.5  run, men    100",
      "a2  Road shoe     120  run          60",
      "",
      "brand: Acme (1,200), Zed (34)",
      "1,234 found, page 1 of 617, 3 ms",
    ]);
  });

  test("say how words match if that differs between hits, and show no score without words", () => {
    const matches = [
      [EXACT_MATCH + 2 * POINT, 2 ** 52 + POINT, "keyword"],
      [0, 0, "pinned"],
      [EXACT_MATCH + POINT, 0, "keyword"],
      [EXACT_MATCH - 2 ** 46 + POINT, 0, "keyword"],
      [EXACT_MATCH - 2 ** 47 + 2 * POINT, 0, "keyword"],
      [EXACT_MATCH - 2 ** 48 + POINT, 0, "keyword"],
      [3 * POINT, 0, "keyword"],
      [POINT, 0, "semantic"],
      [2 ** 52 + POINT, 0, "hybrid"],
    ] as const;
    const hits = matches.map(([text_match, relevance_bonus, match_type], i) => {
      return { document: { id: `${i}` }, text_match, relevance_bonus, match_type };
    });
    expect(resultLines({ ...answer, hits }, 80).slice(0, 11)).toEqual([
      "id  match        score",
      "──  ───────────  ─────",
      "0   part number    100",
      "1   pinned           0",
      "2   exact           33",
      "3   other form      33",
      "4   1 typo          67",
      "5   2 typos         33",
      "6   some words     100",
      "7   meaning         33",
      "8   meaning         33",
    ]);
    const browsed = hits.map(({ document }) => ({ document, text_match: 0, relevance_bonus: 0 }));
    expect(resultLines({ ...answer, hits: browsed }, 80)[0]).toBe("id");
  });

  test("are explained in the server's sentences, below the table", () => {
    const text = ['"shoe" was found as written in title: 2 points.', 'a "te\x1b[31mrm"'];
    const hits = [
      { ...answer.hits[0]!, explanation: { text } },
      { ...answer.hits[1]!, explanation: null },
    ];
    expect(resultLines({ ...answer, hits }, 80).slice(4, 9)).toEqual([
      "",
      "a1:",
      '  "shoe" was found as written in title: 2 points.',
      '  a "te [31mrm"',
      "",
    ]);
  });

  test("are replaced by one line if nothing is found", () => {
    expect(resultLines({ ...answer, hits: [], found: 0, total_pages: 0, data: {} }, 80)).toEqual([
      "0 found, 3 ms",
    ]);
  });
});

describe("progress", () => {
  const counts = { succeeded: 1000, rejected: 5, bytes: 0 };

  test("shows share, speed, remaining time and rejects; no share if the size is unknown", () => {
    expect(progressLine(counts, 2, 25, 100)).toBe(
      "[######------------------] 25 %  1,005 documents  503/s  0:06 left  5 rejected",
    );
    expect(progressLine({ ...counts, rejected: 0 }, 2, 25, null)).toBe("1,000 documents  500/s");
    expect([7, 750, 3723].map(clock)).toEqual(["0:07", "12:30", "1:02:03"]);
  });

  test("is one rewritten line on a terminal and disappears at the end", () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    const written: string[] = [];
    const progress = new UploadProgress(
      { totalBytes: 100, bytesRead: () => 50 },
      { isTTY: true, columns: 40, write: (text) => written.push(text) },
    );
    now.mockReturnValue(120);
    progress.update(counts);
    progress.update(counts);
    progress.clear();
    expect(written).toHaveLength(2);
    expect(written[0]!.startsWith(`\r\u001b[2K[${"#".repeat(12)}${"-".repeat(12)}] 50 %`)).toBe(true);
    expect(written[1]).toBe("\r\u001b[2K");
  });
});
