// Which parts of a document a response shows, and partial updates, byte for byte.
import { beforeAll, describe, expect, test } from "vitest";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { hasInternalMembers } from "../../../../shards/query/internal.js";
import { project, projectionOf } from "../../../../shards/query/project.js";
import { spliceMembers } from "../../../../shards/query/splice.js";
import { engineModule } from "../harness.js";

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await engineModule()).workbench();
});

describe("projection", () => {
  const raw = Buffer.from(
    '{ "id": "1", "a" : 12345678901234567890, "_x": {}, "embedding": [1], "b": [ 1, 2 ] }',
  );
  const shown = (fields?: string[], exclude?: string[]): string => {
    const record = { id: "1", raw, internal: hasInternalMembers(raw, workbench) };
    return Buffer.from(project(record, projectionOf(fields, exclude), workbench)).toString();
  };

  test("internal members never appear, id always does, and values keep their bytes", () => {
    expect(shown()).toBe('{"id": "1","a" : 12345678901234567890,"b": [ 1, 2 ]}');
    expect(shown(["b", "_x", "embedding"])).toBe('{"id": "1","b": [ 1, 2 ]}');
    expect(shown([])).toBe('{"id": "1"}');
    expect(shown(undefined, ["id", "a"])).toBe('{"id": "1","b": [ 1, 2 ]}');
    expect(shown(["a"], ["a"])).toBe('{"id": "1","a" : 12345678901234567890}');
  });

  test("escaped names of internal members are recognised", () => {
    expect(hasInternalMembers(Buffer.from('{"id":"1","\\u005fx":1}'), workbench)).toBe(true);
    expect(hasInternalMembers(Buffer.from('{"id":"1","\\u0065mbedding":1}'), workbench)).toBe(true);
    expect(hasInternalMembers(Buffer.from('{"id":"1","a":{"_x":1},"b":"\\u00e4"}'), workbench)).toBe(false);
  });
});

test("partial updates replace whole members in place and keep the rest unchanged", () => {
  const base = Buffer.from('{"id":"1", "n": 9223372036854775807, "t":"x","dup":1,"dup":2}');
  const patch = Buffer.from('{"t": null, "id":"other", "new": {"a": [1]}}');
  const spliced = Buffer.from(spliceMembers(base, patch, workbench)).toString();
  expect(spliced).toBe('{"id":"1","n": 9223372036854775807,"t": null,"dup":2,"new": {"a": [1]}}');
});
