// Splitting NDJSON into lines: the lines are the same however the stream is split, long lines are dropped,
// and line numbers are kept.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LineBatch, LineFramer } from "../../../../../server/documents/ingest/line-framer.js";

const LIMITS = { lineBytesMax: 10, batchBytes: 25, batchLinesMax: 4 };

function frame(chunks: readonly Uint8Array[], limits = LIMITS): LineBatch[] {
  const framer = new LineFramer(limits);
  const batches = chunks.flatMap((chunk) => [...framer.push(chunk)]);
  const rest = framer.finish();
  return rest === null ? batches : [...batches, rest];
}
const lines = (batches: readonly LineBatch[]): [number, string][] =>
  batches.flatMap(({ bytes, numbers }) => {
    const texts = Buffer.from(bytes).toString().split("\n").slice(0, -1);
    return texts.map((text, i): [number, string] => [numbers[i] as number, text]);
  });

describe("line framer", () => {
  it("skips blank lines and a byte order mark, keeps line numbers and a last line without a newline", () => {
    const batches = frame([Buffer.from("\ufeff{a}\n\n \t\r\n{b}\r\n{c}")]);
    expect(lines(batches)).toEqual([
      [1, "{a}"],
      [4, "{b}\r"],
      [5, "{c}"],
    ]);
    expect(frame([])).toEqual([]);
    expect(frame([Buffer.from("\n\n")])).toEqual([]);
  });

  it("counts the consecutive blank lines", () => {
    const framer = new LineFramer(LIMITS);
    const counts = ["\n\n", " ", " \r\n", "x", "\n", "\n", "a line too long\n", "\n\n\n"].map((piece) => {
      for (const _batch of framer.push(Buffer.from(piece)));
      return framer.blankLines;
    });
    expect(counts).toEqual([2, 2, 3, 3, 0, 1, 0, 3]);
  });

  it("drops overlong lines without buffering them", () => {
    const long = Buffer.from("x".repeat(50));
    const batches = frame([Buffer.from("a\n"), long, long, Buffer.from("\nb\n"), long]);
    expect(lines(batches)).toEqual([
      [1, "a"],
      [3, "b"],
    ]);
    expect(batches.flatMap((batch) => batch.tooLong)).toEqual([2, 4]);
  });

  it("gives the same lines however the stream is cut", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "{"), maxLength: 14 });
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 15 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (texts, cuts) => {
          const all = Buffer.from(texts.join("\n"));
          const at = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
          const chunks = at.slice(1).map((end, i) => all.subarray(at[i], end));
          const batches = frame(chunks);
          const numbered = texts.map((text, i): [number, string] => [i + 1, text]);
          expect(lines(batches)).toEqual(
            numbered.filter(([, text]) => text.length <= 10 && text.trim() !== ""),
          );
          expect(batches.flatMap((batch) => batch.tooLong)).toEqual(
            numbered.filter(([, text]) => text.length > 10).map(([number]) => number),
          );
          for (const { numbers, tooLong } of batches)
            expect(numbers.length + tooLong.length).toBeLessThanOrEqual(4);
        },
      ),
      { numRuns: 200 },
    );
  });
});
