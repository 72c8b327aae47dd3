// Splitting input into documents: the result is the same wherever the input is cut into chunks, and no
// document is lost.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCsv } from "../../../../../server/documents/formats/csv.js";
import { identify } from "../../../../../server/documents/formats/identity.js";
import { scanObject } from "../../../../../server/documents/formats/json-scan.js";
import { type JsonRecord, readArray, readLines } from "../../../../../server/documents/formats/records.js";
import { detectFormat, openSource } from "../../../../../server/documents/formats/source.js";

async function* cut(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : sizes[i % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function all<T>(groups: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const group of groups) items.push(...group);
  return items;
}

const texts = (records: JsonRecord[]) => records.map((record) => record.bytes.toString("utf8").trim());
const chunkSizes = fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1, maxLength: 5 });

describe("records", () => {
  test("JSON lines: the same documents for any chunking, blank lines skipped, line numbers kept", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.object()), chunkSizes, async (objects, sizes) => {
        const lines = objects.map((object) => JSON.stringify(object));
        const records = await all(readLines(cut(lines.join("\n\n"), sizes)));
        expect(texts(records)).toEqual(lines);
        expect(records.map((record) => record.at)).toEqual(lines.map((_, i) => 2 * i + 1));
      }),
      { numRuns: 150 },
    );
  });

  test("JSON array: the same elements for any chunking and any spacing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        chunkSizes,
        fc.integer({ min: 0, max: 3 }),
        async (list, sizes, indent) => {
          const records = await all(readArray(cut(JSON.stringify(list, null, indent), sizes)));
          expect(texts(records).map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(list)));
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    ['[{"id":"1"}', "ends early"],
    ['[{"id":"1"},', "ends early"],
    ['[{"id":"1"}] {', "expected nothing more"],
    ['[{"id":"1"},]', "expected a document"],
    ['[,{"id":"1"}]', "expected a document"],
  ])("a broken array reports where: %s", async (text, message) => {
    await expect(all(readArray(cut(text, [3])))).rejects.toThrow(message);
  });

  test("an overlong line is one rejected record, and the next line is read", async () => {
    const long = `{"id":"1","x":"${"y".repeat(17 * 1024 * 1024)}"}\n{"id":"2"}\n`;
    const records = await all(readLines(cut(long, [1024 * 1024])));
    expect(records.map((record) => record.problem)).toEqual(["longer than 16 MiB", undefined]);
    expect(texts(records)[1]).toBe('{"id":"2"}');
  });
});

describe("scanning an object", () => {
  test("finds every member and its exact bytes", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.integer({ min: 0, max: 2 }),
        (object, indent) => {
          const text = JSON.stringify(object, null, indent);
          const bytes = Buffer.from(text);
          const found: [string, unknown][] = [];
          const whole = scanObject(bytes, (nameStart, nameEnd, valueStart, valueEnd) => {
            const name = JSON.parse(`"${bytes.toString("utf8", nameStart, nameEnd)}"`) as string;
            found.push([name, JSON.parse(bytes.toString("utf8", valueStart, valueEnd))]);
          });
          expect(whole).toBe(true);
          expect(found).toEqual(Object.entries(JSON.parse(text) as object));
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    "",
    "[]",
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1}{"b":2}',
    '{"a":1},{"b":2}',
    '{"a":"x}',
    '{"a":[1}',
    "{a:1}",
  ])("refuses %s", (text) => {
    expect(scanObject(Buffer.from(text), () => {})).toBe(false);
  });
});

describe("document ids", () => {
  const identified = (document: string, field: string | null = null) => {
    const { bytes, problem } = identify(Buffer.from(document), field);
    return problem ?? bytes.toString("utf8");
  };

  test("a string id is kept, a number becomes a string with the same digits", () => {
    expect(identified('{"id":"a","n":1}')).toBe('{"id":"a","n":1}');
    expect(identified('{"n":1, "id" : 9007199254740993 }')).toBe('{"n":1, "id" : "9007199254740993" }');
  });

  test("another field can supply the id and is kept", () => {
    expect(identified('{"sku":"A/1","n":1}', "sku")).toBe('{"id":"A/1","sku":"A/1","n":1}');
    expect(identified('{"id":1,"sku":"A"}', "sku")).toBe('{"id":"A","sku":"A"}');
  });

  test("a record without a usable id is reported, not guessed", () => {
    expect(identified('{"n":1}')).toBe('no field "id"');
    expect(identified('{"id":null}')).toBe('"id" is neither a string nor a number');
    expect(identified('{"id":{"x":1}}')).toBe('"id" is neither a string nor a number');
    expect(identified("[1]")).toBe("not a complete JSON object");
  });
});

describe("CSV", () => {
  async function rowsOf(bytes: Buffer, size: number): Promise<(readonly string[])[]> {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    const { rows } = await readCsv(Readable.from(pieces), null);
    return (await all(rows)).map(({ cells }) => cells);
  }

  test.each([1, 2, 5, 1000])(
    "an encoding other than UTF-8 is refused with its line, in pieces of %i bytes",
    async (size) => {
      const table = "id,name\n1,Zoë €\n2,𝄞 café\n3,caf";
      expect(await rowsOf(Buffer.from(`${table}é`), size)).toEqual([
        ["1", "Zoë €"],
        ["2", "𝄞 café"],
        ["3", "café"],
      ]);
      for (const rest of ["é", "é\n4,x\n"]) {
        const latin = Buffer.concat([Buffer.from(table), Buffer.from(rest, "latin1")]);
        await expect(rowsOf(latin, size)).rejects.toThrow(/^line 4 is not UTF-8/);
      }
      await expect(rowsOf(Buffer.from("id,größe\n1,2\n", "latin1"), size)).rejects.toThrow(
        /^line 1 is not UTF-8/,
      );
    },
  );
});

describe("sources", () => {
  test.each([
    ['  [{"id":"1"}]', "json"],
    ['\n{"id":"1"}', "ndjson"],
    ["id,name\n1,x", "csv"],
    ["", "ndjson"],
  ])("%j is %s", (text, format) => {
    expect(detectFormat(Buffer.from(text))).toBe(format);
  });

  test("gzip is detected from the bytes, a byte order mark is dropped, for files and pipes", async () => {
    const folder = mkdtempSync(join(tmpdir(), "skein-source-"));
    try {
      const plain = Buffer.from('\ufeff{"id":"1"}\n{"id":"2"}\n');
      const file = join(folder, "misnamed.csv");
      writeFileSync(file, Buffer.concat([gzipSync(plain.subarray(0, 14)), gzipSync(plain.subarray(14))]));
      const source = await openSource(file, null);
      expect([source.format, source.gzip]).toEqual(["ndjson", true]);
      expect(texts(await all(readLines(source.chunks)))).toEqual(['{"id":"1"}', '{"id":"2"}']);
      const piped = await openSource("-", null, Readable.from([plain.subarray(0, 1), plain.subarray(1)]));
      expect([piped.format, piped.gzip, piped.totalBytes]).toEqual(["ndjson", false, null]);
      expect(texts(await all(readLines(piped.chunks)))).toHaveLength(2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("damaged gzip, UTF-16, directories and missing files give one clear sentence", async () => {
    const cutShort = gzipSync(Buffer.from('{"id":"1"}\n'.repeat(5000))).subarray(0, 60);
    const broken = async () =>
      all(readLines((await openSource("-", null, Readable.from([cutShort]))).chunks));
    await expect(broken()).rejects.toThrow(/standard input is damaged/);
    await expect(openSource("-", null, Readable.from([Buffer.from("\ufeff{}", "utf16le")]))).rejects.toThrow(
      /UTF-16/,
    );
    await expect(openSource(tmpdir(), null)).rejects.toThrow(/is a directory/);
    await expect(openSource(join(tmpdir(), "no-such-file"), null)).rejects.toThrow(/there is no file/);
  });
});
