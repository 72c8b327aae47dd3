// Splitting a request into documents agrees with JSON.parse on the same bytes: ranges, ids, hashes, and which
// document is faulty.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  DOC_BAD_ID,
  DOC_BAD_JSON,
  DOC_BAD_UTF8,
  DOC_ID_ONLY,
  DOC_LONE_SURROGATE,
  DOC_NO_ID,
  DOC_NOT_OBJECT,
  DOC_OK,
  DOC_TOO_DEEP,
} from "../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import type { SplitDocument } from "../../../../engine-wasm/host/programs/split-result.js";
import { loadEngine } from "../load-engine.js";

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await loadEngine()).workbench();
});

const split = (body: string) => workbench.split(Buffer.from(body));
const outline = (documents: SplitDocument[]) => documents.map(({ status, id }) => [status, id]);

/** An element for "documents", with its expected status and id. */
const element = fc.oneof(
  fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 })).chain((rest) =>
    fc.string({ unit: "grapheme", maxLength: 8 }).map((id) => {
      const text = JSON.stringify({ ...rest, id });
      return { text, status: id === "" ? DOC_BAD_ID : DOC_OK, id: id === "" ? null : id };
    }),
  ),
  fc.constantFrom(
    { text: '{"id":7}', status: DOC_BAD_ID, id: null },
    { text: "{}", status: DOC_NO_ID, id: null },
    { text: '{"ID":"x","a":{"id":"inner"}}', status: DOC_NO_ID, id: null },
    { text: '"just an id"', status: DOC_ID_ONLY, id: "just an id" },
    { text: '""', status: DOC_BAD_ID, id: null },
    { text: "[{}]", status: DOC_NOT_OBJECT, id: null },
    { text: "null", status: DOC_NOT_OBJECT, id: null },
    { text: '{"\\u0069\\u0064":"esc\\u0061ped\\n"}', status: DOC_OK, id: "escaped\n" },
    { text: '{"id":"first","id":"l\\u00e4st"}', status: DOC_OK, id: "läst" },
    { text: '{"id":"first","id":null}', status: DOC_BAD_ID, id: null },
    { text: '{"id":"x","t":"\\ud800"}', status: DOC_LONE_SURROGATE, id: "x" },
    { text: '{"t":"\\ud800","id":"\\u0078y"}', status: DOC_LONE_SURROGATE, id: "xy" },
    { text: '{"t":"\\ud800","id":"x\\udc00"}', status: DOC_LONE_SURROGATE, id: null },
    { text: '{"id":"x\\udc00"}', status: DOC_LONE_SURROGATE, id: null },
    { text: `{"id":"x","t":${"[".repeat(70)}${"]".repeat(70)}}`, status: DOC_TOO_DEEP, id: "x" },
    { text: `{"t":${"[".repeat(9000)}${"]".repeat(9000)},"id":"x"}`, status: DOC_TOO_DEEP, id: "x" },
    { text: `{"id":"${"x".repeat(512)}"}`, status: DOC_OK, id: "x".repeat(512) },
    { text: `{"id":"${"x".repeat(513)}"}`, status: DOC_BAD_ID, id: null },
  ),
);
const space = fc.constantFrom("", " ", "\n", "\t \r\n");

describe("split", () => {
  test("finds every document, its id and its error", () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 8 }), space, fc.boolean(), (elements, gap, first) => {
        const array = `[${gap}${elements.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`;
        const members = [`"documents"${gap}:${gap}${array}`, '"action":"up\\u0073ert"'];
        if (first) members.reverse();
        const body = Buffer.from(`${gap}{${gap}${members.join(`${gap},${gap}`)}${gap}}${gap}`);
        const result = workbench.split(body);
        expect(result.status).toBe(DOC_OK);
        expect(outline(result.documents)).toEqual(elements.map(({ status, id }) => [status, id]));
        result.documents.forEach(({ start, end, id, hash }, i) => {
          expect(body.toString("utf8", start, end)).toBe(elements[i]!.text);
          expect(hash).toBe(id === null ? 0n : workbench.hash(id));
        });
        const action = result.members.find(({ name }) => name === "action")!;
        expect(body.toString("utf8", action.valueStart, action.valueEnd)).toBe('"up\\u0073ert"');
        expect(result.members.find(({ name }) => name === "documents")!.kind).toBe("array");
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["", DOC_BAD_JSON, 0],
    ["[]", DOC_NOT_OBJECT, 0],
    ['{"documents":[{"id":"a"},{"id":}]}', DOC_BAD_JSON, 31],
    ['{"documents":[{"id":"a"},]}', DOC_BAD_JSON, 25],
    ['{"documents":[{"id":"a"}] "x":1}', DOC_BAD_JSON, 26],
    ['{"documents":[{"id":"a"}]', DOC_BAD_JSON, 25],
    ['{"documents":[{"id":"a"}]} trailing', DOC_BAD_JSON, 27],
    ['{"documents":[', DOC_BAD_JSON, 14],
    ['{"action":"\\udc00","documents":[{"id":"a"}]}', DOC_LONE_SURROGATE, 11],
  ])("refuses the whole body %s", (body, status, at) => {
    expect(split(body)).toMatchObject({ status, at, documents: [], members: [] });
  });

  test("bad UTF-8 in one document fails only that document", () => {
    const body = Buffer.from('{"documents":[{"id":"a"},{"id":"b","t":"x!"},{"id":"c"}]}');
    body[body.indexOf("!")] = 0xff;
    const { status, documents } = workbench.split(body);
    expect(status).toBe(DOC_OK);
    expect(outline(documents)).toEqual([
      [DOC_OK, "a"],
      [DOC_BAD_UTF8, "b"],
      [DOC_OK, "c"],
    ]);
    expect(documents[1]!.at).toBe(body.indexOf(0xff));
  });

  test("the last of repeated members wins", () => {
    const twice = split('{"documents":[{"id":"a"}],"x":1,"documents":[{"id":"b"},{"id":"c"}],"x":2}');
    expect(outline(twice.documents)).toEqual([
      [DOC_OK, "b"],
      [DOC_OK, "c"],
    ]);
    expect(twice.members.map(({ name }) => name)).toEqual(["documents", "x"]);
    expect(split('{"documents":[{"id":"a"}],"documents":7}').documents).toEqual([]);
    expect(split('{"documents":7}')).toMatchObject({
      status: DOC_OK,
      documents: [],
      members: [{ kind: "number" }],
    });
  });

  test("never answers wrongly for a body cut or changed anywhere", () => {
    const whole = '{"action":"upsert","documents":[{"id":"a","n":[1,{"b":null}]},"x",{"id":"é\\n"}]}';
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.constantFrom("", '"', "{", "]", ",", "\\", "\u0000", "7"),
        (at, piece) => {
          for (const text of [whole.slice(0, at), whole.slice(0, at) + piece + whole.slice(at + 1)]) {
            let parsed: unknown;
            try {
              parsed = JSON.parse(text);
            } catch {
              expect(split(text).status, text).toBe(DOC_BAD_JSON);
              continue;
            }
            const expected = (parsed as { documents?: unknown }).documents;
            const result = split(text);
            expect(result.status, text).toBe(DOC_OK);
            expect(result.documents.length).toBe(Array.isArray(expected) ? expected.length : 0);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("splitLines", () => {
  test("gives the same documents wherever the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 6 }),
        fc.constantFrom("\n", "\r\n", "\n\n \n"),
        fc.nat(),
        (elements, eol, cut) => {
          const whole = Buffer.from(`\ufeff${elements.map(({ text }) => text).join(eol)}`);
          const first = cut % (whole.length + 1);
          const one = workbench.splitLines(whole.subarray(0, first), false);
          const two = workbench.splitLines(whole.subarray(one.consumed), true);
          expect(two.consumed).toBe(whole.length - one.consumed);
          expect(outline([...one.documents, ...two.documents])).toEqual(
            elements.map(({ status, id }) => [status, id]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test("a broken line is one failed document", () => {
    const lines = Buffer.from('{"id":"a"}\n{"id":"b"\n\n{"id":"c"} x\n{"id":"d"}');
    const { documents, consumed } = workbench.splitLines(lines, true);
    expect(documents.map(({ status, at, id }) => [status, at, id])).toEqual([
      [DOC_OK, 6, "a"],
      [DOC_BAD_JSON, 20, "b"],
      [DOC_BAD_JSON, 33, "c"],
      [DOC_OK, 41, "d"],
    ]);
    expect(consumed).toBe(lines.length);
    expect(workbench.splitLines(lines, false).consumed).toBe(lines.length - 10);
  });
});

describe("topLevel", () => {
  test("lists members with decoded names", () => {
    const raw = Buffer.from(' {"a":1, "\\u0062\\n" : [2] ,"__proto__":{}, "a":"last"}');
    expect(
      workbench
        .topLevel(raw)
        .map(({ name, valueStart, valueEnd, kind }) => [
          name,
          raw.toString("utf8", valueStart, valueEnd),
          kind,
        ]),
    ).toEqual([
      ["b\n", "[2]", "array"],
      ["__proto__", "{}", "object"],
      ["a", '"last"', "string"],
    ]);
    expect(workbench.topLevel(Buffer.from("{}"))).toEqual([]);
  });

  test("throws with status and position", () => {
    try {
      workbench.topLevel(Buffer.from('{"a":tru}'));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(EngineError);
      expect(error).toMatchObject({ code: "json", documentStatus: DOC_BAD_JSON, at: 5 });
    }
    expect(() => workbench.topLevel(Buffer.from("[]"))).toThrow(EngineError);
  });
});
