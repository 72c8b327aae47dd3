// Batch bodies and NDJSON streams as clients may send them: they are parsed as JSON.parse would parse them,
// or refused, and the accepted documents become a segment that passes its check.
import { isUtf8 } from "node:buffer";
import type { Random } from "../../bench/random.js";
import { DOC_ID_ONLY } from "../../engine-wasm/assembly/layout.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { LineFramer } from "../../server/documents/ingest/line-framer.js";
import { type PreparedWrite, prepareBody, prepareLines } from "../../server/documents/ingest/prepare.js";
import { SkeinError } from "../../server/ground/errors.js";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { MessageReader } from "../../shards/protocol/bytes.js";
import { Action } from "../../shards/protocol/ops.js";
import { decodeWrite } from "../../shards/protocol/write.js";
import { type Json, printJson } from "../oracle/segments/values.js";
import { randomDocument } from "../unit/engine/segments/catalogue.js";
import { Canary } from "./canary.js";
import { SCHEMA } from "./catalogue.js";
import { finding, mutateBytes, mutateText, type Target } from "./target.js";

const SHARDS = 3;
const PIECES = [
  ...'{}[]",:\\ \n\r\t0-1e.',
  "\\u0000",
  "\\ud800",
  "\\ud83d\\ude00",
  "\\u00e9",
  "null",
  "true",
  '"id"',
  '"documents"',
  '"action"',
  "1e999",
  "-0",
  "99999999999999999999",
  '"__proto__"',
  "\ufeff",
  "é",
  "😀",
  "[[[[[[[[",
  '{"a":',
  "\u2028",
];
const LIMITS = { lineBytesMax: 400, batchBytes: 1500, batchLinesMax: 7 };

function document(random: Random, id: number): string {
  return printJson(randomDocument(id, (list) => random.pick(list)) as Json);
}

/**
 * Checks that none of the `whole` documents is missing from the prepared write, and builds a segment from it.
 * The build may refuse documents, but the segment must be consistent.
 */
function checkPrepared(canary: Canary<void>, bench: Workbench, prepared: PreparedWrite, whole: number): void {
  const messages = prepared.messages.flatMap(
    ({ message }) => decodeWrite(new MessageReader(message.subarray(1))).documents,
  );
  if (messages.length + prepared.refusals.length !== whole) {
    finding(`${whole} documents became ${messages.length} and ${prepared.refusals.length} refusals`);
  }
  const unique = new Map(messages.map((one) => [one.id, one]));
  const documents = [...unique.values()].filter(({ raw }) => raw.length > 0).sort((a, b) => a.seq - b.seq);
  for (const { id, raw } of documents) {
    if (!isUtf8(raw)) continue; // the build refuses it
    const parsed = JSON.parse(Buffer.from(raw).toString()) as { id?: unknown };
    if (String(parsed.id) !== id)
      finding(`the id ${JSON.stringify(parsed.id)} was read as ${JSON.stringify(id)}`);
  }
  const built = bench.build(
    SCHEMA,
    documents.map(({ seq, raw }) => ({ seq, raw })),
  );
  for (const failure of built.failures) {
    if (failure.code > DOC_ID_ONLY) finding(`a document was refused with the unknown code ${failure.code}`);
  }
  if (built.segment === null) return;
  const { segment } = built;
  const status = canary.both("checkSegment", ({ instance }) => {
    const at = instance.region(segment);
    const answer = -instance.run((kernels) => kernels.checkSegment(at, segment.length));
    instance.release(at);
    return answer;
  });
  if (status !== 0) finding("a segment that was built does not pass its check");
}

/** True if `work` was refused with an error that a client may receive. Rethrows every other error. */
function refused(work: () => void): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof SkeinError && (error.status === 400 || error.status === 413)) return true;
    throw error;
  }
}

/** Parses the bytes with JSON.parse; undefined if they are not JSON. */
function parsed(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

/** Input: the request body. */
export function batchTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const canary = new Canary<void>(module, () => undefined);
  return {
    name: "batch",
    generate(random) {
      const action = random.pick(["", "", '"action":"delete",', '"action": "emplace" ,', '"action":1,']);
      const list = Array.from({ length: random.from(0, 6) }, (_, i) => document(random, random.below(i + 2)));
      if (random.below(4) === 0) list.push(random.pick(['"d1"', "7", "null", '{"id":5}', '{"id":""}', "{}"]));
      const body = mutateText(random, `{${action}"documents":[${list.join(",")}]}`, PIECES);
      return random.below(4) === 0 ? mutateBytes(random, Buffer.from(body)) : Buffer.from(body);
    },
    check(input) {
      for (const last of [0, 1]) {
        canary.ask("splitLines", (kernels, p, bytes) => kernels.splitLines(p, bytes, last), input);
      }
      canary.ask("split", (kernels, p, bytes) => kernels.split(p, bytes), input);
      canary.ask("topLevel", (kernels, p, bytes) => kernels.topLevel(p, bytes), input);
      const value = parsed(input) as { documents?: unknown } | undefined;
      const isRefused = refused(() => {
        const prepared = prepareBody(Uint8Array.from(input), SHARDS, bench, DEFAULT_LIMITS);
        if (value === undefined && isUtf8(input)) finding("a body was taken that is no JSON");
        if (value !== undefined)
          checkPrepared(canary, bench, prepared, (value.documents as unknown[]).length);
      });
      if (isRefused || !isUtf8(input) || value === undefined) return;
      if (!Array.isArray(value.documents)) finding("a body was taken that has no array of documents");
    },
    close: async () => undefined,
  };
}

/** Input: a u16 that determines where to split the stream, then the stream. */
export function importTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const canary = new Canary<void>(module, () => undefined);
  return {
    name: "import",
    generate(random) {
      const lines = Array.from({ length: random.from(0, 16) }, (_, i) =>
        random.pick([
          document(random, i),
          document(random, i),
          "",
          " ",
          `${document(random, i)}\r`,
          "x".repeat(500),
        ]),
      );
      const stream = mutateText(random, lines.join("\n"), PIECES);
      const bytes = random.below(4) === 0 ? mutateBytes(random, Buffer.from(stream)) : Buffer.from(stream);
      return Buffer.concat([Uint8Array.of(random.below(256), random.below(256)), bytes]);
    },
    check(input) {
      const stream = input.subarray(2);
      const expected = naiveLines(stream);
      const framer = new LineFramer(LIMITS);
      const seen: Expected = { lines: new Map(), tooLong: [] };
      const take = (
        batch: { bytes: Uint8Array; numbers: readonly number[]; tooLong: readonly number[] } | null,
      ): void => {
        if (batch === null) return;
        seen.tooLong.push(...batch.tooLong);
        const lines = batch.numbers.length === 0 ? [] : splitAt(batch.bytes.subarray(0, -1));
        if (lines.length !== batch.numbers.length)
          finding(`${batch.numbers.length} lines came as ${lines.length}`);
        for (const [i, number] of batch.numbers.entries()) {
          seen.lines.set(number, Buffer.from(lines[i]!).toString("latin1"));
        }
        const prepared = prepareLines(batch.bytes, Action.UPSERT, SHARDS, bench, DEFAULT_LIMITS);
        checkPrepared(canary, bench, prepared, batch.numbers.length);
      };
      const step = 1 + (input[0]! % 64) + input[1]! * (input[0]! & 1);
      for (let at = 0; at < stream.length; at += step) {
        for (const batch of framer.push(Uint8Array.from(stream.subarray(at, at + step)))) take(batch);
      }
      take(framer.finish());
      const print = ({ lines, tooLong }: Expected): string => JSON.stringify([[...lines], tooLong]);
      if (print(seen) !== print(expected)) finding(`lines ${print(seen)}, expected ${print(expected)}`);
    },
    close: async () => undefined,
  };
}

interface Expected {
  lines: Map<number, string>;
  tooLong: number[];
}

function splitAt(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; ; ) {
    const end = bytes.indexOf(0x0a, from);
    lines.push(bytes.subarray(from, end < 0 ? bytes.length : end));
    if (end < 0) return lines;
    from = end + 1;
  }
}

/** The naive model of the framer: splits the whole stream in one step. */
function naiveLines(stream: Uint8Array): Expected {
  const expected: Expected = { lines: new Map(), tooLong: [] };
  for (const [i, line] of splitAt(stream).entries()) {
    if (line.length > LIMITS.lineBytesMax) {
      expected.tooLong.push(i + 1);
      continue;
    }
    const text = Buffer.from(line)
      .toString("latin1")
      .replace(/^(\xef\xbb\xbf)+/, "");
    if (!/^[ \t\r]*$/.test(text)) expected.lines.set(i + 1, text);
  }
  return expected;
}
