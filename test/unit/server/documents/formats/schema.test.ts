// The schema that the command line infers from documents and tables: types, facets, CSV cells.
import { describe, expect, test } from "vitest";
import { parseExact } from "../../../../../server/cli/api.js";
import { schemaLines } from "../../../../../server/cli/schema-table.js";
import {
  cellToJson,
  detectDelimiter,
  guessCellType,
  readCsv,
} from "../../../../../server/documents/formats/csv.js";
import { openDocuments } from "../../../../../server/documents/formats/documents.js";
import { inferSchema } from "../../../../../server/documents/formats/infer.js";
import { Observer } from "../../../../../server/documents/formats/observe.js";

function inferred(lines: readonly string[]) {
  const observer = new Observer();
  for (const line of lines) expect(observer.add(Buffer.from(line))).toBe(true);
  return inferSchema(observer.fields.values(), observer.documents);
}

function typeOf(values: readonly string[]): string {
  const choice = inferred(values.map((value) => `{"id":"1","f":${value}}`)).choices[0]!;
  return `${choice.type ?? "stored"}${choice.facet ? " facet" : ""}`;
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function* pieces(text: string, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

describe("inferring a field", () => {
  test.each([
    [["1", "2", "-3"], "int32"],
    [["1", "4000000000"], "int64"],
    [["9007199254740993"], "int64"],
    [["123456789012345678901234567890"], "float"],
    [["1", "2.5"], "float"],
    [["52.0", "53.0"], "float"],
    [["1e3"], "float"],
    [["true", "false", "null"], "bool facet"],
    [['"red"', '"red"', '"blue"', '"blue"'], "string facet"],
    [['"one thing"', '"another thing"', '"a third thing"'], "string"],
    [['["a","b"]', '["a","b"]', "[]"], "string[] facet"],
    [['["123"]', '["456"]'], "string[]"],
    [["[1,2]", "[3]"], "int32[]"],
    [["[1,2.5]"], "float[]"],
    [["[1,5000000000]"], "float[]"],
    [['{"a":1}'], "stored"],
    [['[{"a":1}]', "[null]"], "stored"],
    [["1", '"x"'], "stored"],
    [["null", '""'], "stored"],
    [['"https://example.com/a"', '"https://example.com/b"'], "stored"],
    [['"2024-05-01T10:00:00Z"', '"2023-01-01"'], "string"],
  ])("%j is %s", (values, type) => {
    expect(typeOf(values)).toBe(type);
  });

  test("internal names and the id are not declared", () => {
    const { schema, choices } = inferred(['{"id":"1","_x":1,"embedding":[0.1],"__proto__":2,"name":"n"}']);
    expect(schema.fields.map((field) => field.name)).toEqual(["name"]);
    expect(choices.map((choice) => choice.name)).toEqual(["_x", "embedding", "__proto__", "name"]);
  });

  test("an integer field that measures something is a float, and a popularity orders equal results", () => {
    const { schema } = inferred(['{"id":"1","price":10,"popularity":5}']);
    expect(schema).toEqual({
      fields: [
        { name: "price", type: "float" },
        { name: "popularity", type: "int32" },
      ],
      default_sorting_field: "popularity",
    });
  });

  test("the schema searches titles first and long texts last; the printed table keeps the documents' order", () => {
    const long = "word ".repeat(100);
    const inference = inferred([`{"id":"1","about":"${long}","maker":"some maker","title":"the title"}`]);
    expect(inference.schema.fields.map((field) => field.name)).toEqual(["title", "maker", "about"]);
    const lines = schemaLines(inference, 80);
    expect(lines[2]).toMatch(/^about\s+string/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("values that are not objects are not counted", () => {
    const observer = new Observer();
    for (const text of ["[]", "1", "{", "null"]) expect(observer.add(Buffer.from(text))).toBe(false);
    expect(observer.documents).toBe(0);
  });
});

describe("CSV", () => {
  test.each([
    ["a,b,c", ","],
    ["a;b;c,d", ";"],
    ["a\tb", "\t"],
    ['"x,y,z"|b|c', "|"],
    ["single", ","],
  ])("%j is split by %j", (head, delimiter) => {
    expect(detectDelimiter(Buffer.from(`${head}\n1,1,1,1,1`))).toBe(delimiter);
  });

  test.each([
    ["stock", ["1", "20", ""], "int64"],
    ["sku", ["1", "20"], "string"],
    ["ean", ["0095205603217"], "string"],
    ["code", ["007", "012"], "string"],
    ["price", ["1.50", "2"], "float"],
    ["new", ["yes", "no"], "bool"],
    ["empty", ["", ""], "string"],
    ["mixed", ["1", "x"], "string"],
  ])("column %s with %j is %s", (name, cells, type) => {
    expect(guessCellType(name, cells)).toBe(type);
  });

  test.each([
    ["9007199254740993", "int64", "9007199254740993"],
    ["+007", "int32", "7"],
    ["-0", "int32", "0"],
    ["x", "int32", '"x"'],
    [".5", "float", "0.5"],
    ["1e999", "float", '"1e999"'],
    ["Yes", "bool", "true"],
    ["0", "bool", "false"],
    ["a | b", "string[]", '["a","b"]'],
    ['["a","b|c"]', "string[]", '["a","b|c"]'],
    ["1|2", "int32[]", "[1,2]"],
    ["  ", "string", null],
    [' he said "hi" ', "string", '" he said \\"hi\\" "'],
  ] as const)("cell %j as %s is %s", (cell, type, json) => {
    expect(cellToJson(cell, type)).toBe(json);
  });

  test("quoted cells, line breaks inside them, and rows of the wrong width are handled", async () => {
    const table = await readCsv(once('id,text\n1,"a, b"\n2,"two\nlines"\n3\n4,x,y\n\n5,z\n'), null);
    expect(table.columns).toEqual(["id", "text"]);
    const rows = [];
    for await (const group of table.rows) rows.push(...group);
    expect(rows.map((row) => row.problem ?? row.cells[1])).toEqual([
      "a, b",
      "two\nlines",
      "1 cell where the header has 2",
      "3 cells where the header has 2",
      "z",
    ]);
  });

  test("a header that repeats a name and a quote that never ends give one clear sentence", async () => {
    await expect(readCsv(once("a,a\n1,2"), null)).rejects.toThrow('names the column "a" twice');
    const read = async () => {
      // Whether the header row is emitted first depends on Node.
      const { rows } = await readCsv(once('a,b\n1,"2\n'), null);
      for await (const _group of rows);
    };
    await expect(read()).rejects.toThrow(/broken CSV/);
  });

  test.each([
    ["after rows of one line", 'a,b\n1,x\n2,"open\n3,y\n4,z\n', 3],
    ["after cells with line breaks", 'a,b\r\n1,"x\r\ny"\r\n2,"open\r\n3,4\r\n', 4],
    ["after empty lines", 'a,b\n\n1,2\n\n\n"open\n3,4', 6],
    ["in a row that began on an earlier line", 'a,b\n"x\ny","open\n1,2\n', 3],
    ["in the header", 'a,"b\n1,2\n3,4', 1],
  ])("an unclosed quote %s is reported on the line where its cell begins", async (_, text, line) => {
    for (const size of [text.length, 1, 3]) {
      const read = async () => {
        const table = await readCsv(pieces(text, size), ",");
        for await (const _group of table.rows);
      };
      await expect(read()).rejects.toThrow(new RegExp(`^broken CSV: no quote closes .* line ${line}$`));
    }
  });

  test("a quote not closed within the maximum row length is reported on its line, too", async () => {
    const read = async () => {
      const table = await readCsv(once(`a,b\n1,2\n3,"${`${"x".repeat(1023)}\n`.repeat(17 * 1024)}"\n`), null);
      for await (const _group of table.rows);
    };
    await expect(read()).rejects.toThrow(/longer than 16 MiB.* line 3$/);
  });

  test.each(["\n", "\r\n", "\r"])(
    "rows are numbered by the line on which they begin, with lines ending in %j",
    async (end) => {
      const text = ["a,b", "", '"x', 'y",1', "2,3", "", "", "4,5"].join(end);
      for (const size of [text.length, 1, 2]) {
        const rows = [];
        for await (const group of (await readCsv(pieces(text, size), ",")).rows) rows.push(...group);
        expect(rows.map((row) => row.at)).toEqual([3, 5, 8]);
      }
    },
  );

  test("rows become documents with the index's types and the id from a column", async () => {
    const source = {
      name: "t",
      format: "csv",
      gzip: false,
      totalBytes: null,
      bytesRead: () => 0,
      chunks: once("sku;price;tags;note\nA/1;10;x|y;7\n"),
    } as const;
    const input = await openDocuments(source, { idField: "sku", delimiter: null, sampleDocuments: 10 });
    expect(input.sample[0]!.bytes.toString()).toBe(
      '{"id":"A/1","sku":"A/1","price":10,"tags":"x|y","note":7}',
    );
    const types = new Map([
      ["price", "float"],
      ["tags", "string[]"],
    ] as const);
    const documents = [];
    for await (const group of input.all(types)) documents.push(...group);
    expect(documents.map((document) => document.bytes.toString())).toEqual([
      '{"id":"A/1","sku":"A/1","price":10,"tags":["x","y"],"note":7}',
    ]);
  });
});

test("long integers in replies keep their digits", () => {
  expect(parseExact(Buffer.from('{"a":9007199254740993,"s":"x 12345678901234567890 \\" 1","n":12}'))).toEqual(
    {
      a: "9007199254740993",
      s: 'x 12345678901234567890 " 1',
      n: 12,
    },
  );
});

test("long fractions and exponents in replies are numbers", () => {
  const numbers = [0.19672131147540983, -1 / 3, 1e-7 / 3];
  expect(parseExact(Buffer.from(JSON.stringify(numbers)))).toEqual(numbers);
});
