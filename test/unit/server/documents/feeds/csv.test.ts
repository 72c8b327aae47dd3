// CSV and TSV feeds: the delimiter, the header, lines before the header, and rows with the wrong number of
// cells.

import { describe, expect, test } from "vitest";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { read, type Settings, values } from "./read.js";

async function refused(csv: string, settings: Settings = {}): Promise<string> {
  try {
    await read("csv", csv, settings);
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
  return "read";
}

describe("CSV feeds", () => {
  test.each([[","], [";"], ["\t"], ["|"]])(
    "the delimiter %j is detected, or used as given",
    async (delimiter) => {
      const csv = `id,title,price\n1,"a;b\tc|d,e",5\n`.replaceAll(",", delimiter).replace("a;b", "a, b");
      const title = `a, b\tc|d${delimiter}e`;
      expect(await values("csv", csv)).toEqual([{ id: "1", title, price: "5" }]);
      expect(await values("csv", csv, { delimiter })).toEqual([{ id: "1", title, price: "5" }]);
    },
  );

  test("a given delimiter wins over the one detected in the header", async () => {
    expect(await values("csv", "id,x;title\n1;a\n", { delimiter: ";" })).toEqual([
      { "id,x": "1", title: "a" },
    ]);
  });

  test("names are trimmed, cells are not; unnamed columns are dropped; JavaScript names are ordinary names", async () => {
    const [item] = await read("csv", " id , __proto__,constructor,\n 1 ,a,b,c\n");
    expect(Object.entries(item!.value!)).toEqual([
      ["id", " 1 "],
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });

  test("quotes, line breaks and blank lines are read correctly", async () => {
    const csv = '"id","title"\r\n1,"say ""hi""\r\nthere"\r\n\r\n2,\r\n3,5" nail\r\n';
    expect(await values("csv", csv)).toEqual([
      { id: "1", title: 'say "hi"\r\nthere' },
      { id: "2", title: "" },
      { id: "3", title: '5" nail' },
    ]);
  });

  test("rows with a wrong number of cells fail with their line, the others are read", async () => {
    expect(await values("csv", 'id,title\n1,"a\nb"\n2\n3,c,d\n4,e\n')).toEqual([
      { id: "1", title: "a\nb" },
      "line 4: 1 cell where the header has 2",
      "line 5: 3 cells where the header has 2",
      { id: "4", title: "e" },
    ]);
  });

  test("comments before the header are skipped, but their lines count", async () => {
    const meta =
      '# Required | A unique id,# Required | The title\n"# Optional, too"\n#note\n\nid;title\n1;a\n2\n';
    expect(await values("brandx_catalog", meta)).toEqual([
      { id: "1", title: "a" },
      "line 7: 1 cell where the header has 2",
    ]);
    expect(await values("csv", "#\nid,title\n1,a\n")).toEqual([{ id: "1", title: "a" }]);
    expect(await values("csv", "#id,title\n1,a\n")).toEqual([{ "#id": "1", title: "a" }]);
  });

  test("a catalog is read as CSV or XML depending on its beginning", async () => {
    expect(await values("brandx_catalog", "id\ttitle\n1\ta\n")).toEqual([{ id: "1", title: "a" }]);
    expect(await values("brandx_catalog", "\ufeff \n<feed><entry><id>1</id></entry></feed>")).toEqual([
      { id: "1" },
    ]);
  });

  test("an oversized row fails; one several times the limit ends the feed", async () => {
    const row = (bytes: number) => `2,"${"x".repeat(bytes)}"\n`;
    expect(await values("csv", `id,title\n1,a\n${row(2_000_000)}3,c\n`)).toEqual([
      { id: "1", title: "a" },
      "line 3: item is larger than 1048576 bytes",
      { id: "3", title: "c" },
    ]);
    expect(await values("csv", `id,title\n1,${"ä".repeat(600_000)}\n`)).toEqual([
      "line 2: item is larger than 1048576 bytes",
    ]);
    expect(await refused(`id,title\n${row(5_000_000)}`)).toMatch(
      /^SK-DS-413 broken CSV: a row is longer than 4 MiB/,
    );
  });

  test("a header may have ten thousand names", async () => {
    const columns = Array.from({ length: 10_000 }, (_, i) => `c${i}`);
    const [item] = await read("csv", `${columns.join(",")}\n${columns.join(",")}\n`);
    expect(Object.keys(item!.value!)).toHaveLength(10_000);
    expect(await refused(`${columns.join(",")},more\n`)).toBe(
      "SK-DS-422 the CSV header names 10001 columns, more than 10000",
    );
  });

  test("a row of empty cells is not an item, but its line counts", async () => {
    const items = await read("csv", "id,title\n,\n1,a\n , \n;\n,,,\n2\n");
    expect(items).toEqual([
      { at: 1, value: { id: "1", title: "a" } },
      { at: 2, value: null, problem: "line 5: 1 cell where the header has 2" },
      { at: 3, value: null, problem: "line 7: 1 cell where the header has 2" },
    ]);
  });

  test("rows with very many empty cells do not accumulate", async () => {
    const columns = Array.from({ length: 10_000 }, (_, i) => `c${i}`);
    const csv = `${columns.join(",")}\n${`1${",".repeat(9_999)}\n`.repeat(40)}`;
    const chunks = (async function* () {
      yield Buffer.from(csv);
    })();
    const options = { format: "csv", itemsPath: null, delimiter: null, encoding: null } as const;
    const sizes: number[] = [];
    for await (const group of readFeed(
      { chunks, contentType: null },
      { ...options, itemBytesMax: 1_000_000 },
    ))
      sizes.push(group.length);
    expect(sizes).toEqual([7, 7, 7, 7, 7, 5]);
  });

  test("input that is not a table is refused", async () => {
    expect(await refused("")).toBe("SK-DS-520 the feed is empty");
    expect(await refused("\n\n")).toBe("SK-DS-520 the feed is empty");
    expect(await refused("# only a comment\n")).toBe("SK-DS-422 the CSV input has no header line");
    expect(await refused("id,title, id\n")).toBe('SK-DS-422 the CSV header names the column "id" twice');
    expect(await refused('id,title\n1,"a\n2,b\n')).toBe(
      "SK-DS-520 the feed ended early: broken CSV: no quote closes the cell that begins on line 2",
    );
    expect(await refused("\n<!doctype html>\n<html>Log in, please</html>")).toBe(
      "SK-DS-422 the feed is an HTML page; does its address need a login?",
    );
    expect(await values("csv", "id,title\n")).toEqual([]);
  });
});
