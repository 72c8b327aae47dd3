// Planning a write pauses for reads. If a thread applied thousands of changes to a large document without
// pausing, it would be unresponsive for seconds, and on a busy machine it would count as hung.
import { expect, test } from "vitest";
import { planRows, type WriteOp } from "../../../../shards/index/write/write-plan.js";
import { Action, DOC_BATCH_TOO_LARGE } from "../../../../shards/protocol/ops.js";
import { engineModule } from "../harness.js";

test("changes to one document are applied in slices", async () => {
  let slices = 0;
  const rules = {
    workbench: (await engineModule()).workbench(),
    documentBytesMax: 100,
    resultBytesMax: 60,
    slices: { over: true, next: async () => void slices++ },
  };
  const ops = Array.from({ length: 10 }, (_, i): WriteOp => {
    const raw = Buffer.from(`{"price":${i}}`);
    return { action: Action.UPDATE, generation: 1, seq: i + 2, id: "a", hash: 1n, raw };
  });
  const stored = new Map([["a", { entry: 0, row: 0, seq: 1, raw: Buffer.from('{"id":"a"}') }]]);
  const { rows, failures } = await planRows(ops, stored, new Map(), rules);
  expect(rows.map(({ raw }) => Buffer.from(raw).toString())).toEqual(
    [0, 1, 2].map((i) => `{"id":"a","price":${i}}`),
  );
  expect(failures.size).toBe(7);
  expect(slices).toBe(ops.length);
});

test("a request that would rewrite too much has its changes tried for that many bytes again", async () => {
  const rules = {
    workbench: (await engineModule()).workbench(),
    documentBytesMax: 100,
    resultBytesMax: 60,
    slices: { over: false, next: async () => undefined },
  };
  // Returns a change of about 20 bytes, or a change that turns out to be broken when applied.
  const change = (i: number, generation: number, broken: boolean): WriteOp => ({
    action: Action.UPDATE,
    generation,
    seq: i + 2,
    id: "a",
    hash: 1n,
    raw: Buffer.from(broken ? "{" : `{"price":${i}}`),
  });
  const ops = Array.from({ length: 10 }, (_, i) => change(i, 1, i === 4 || i >= 8));
  ops.push(change(0, 2, false), change(1, 2, true));
  const stored = new Map([["a", { entry: 0, row: 0, seq: 1, raw: Buffer.from('{"id":"a"}') }]]);
  const { rows, failures } = await planRows(ops, stored, new Map(), rules);
  expect(rows.map(({ op }) => op)).toEqual([0, 1, 2, 10]);
  const untried = [...failures].flatMap(([op, { code }]) => (code === DOC_BATCH_TOO_LARGE ? [op] : []));
  expect(untried).toEqual([3, 5, 6, 7, 8, 9]);
  expect([...failures.keys()]).toEqual([3, 4, 5, 6, 7, 8, 9, 11]);
});
