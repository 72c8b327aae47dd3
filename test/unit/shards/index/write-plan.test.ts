// Plans of writes let reads have their turn: a thread that applies thousands of changes to a large document in one go
// answers nothing for seconds, and on a busy machine it is taken for one that hangs.
import { expect, test } from "vitest";
import { planRows, type WriteOp } from "../../../../shards/index/write/write-plan.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { engineModule } from "../harness.js";

test("changes of one document are applied in slices", async () => {
  let slices = 0;
  const rules = {
    workbench: (await engineModule()).workbench(),
    documentBytesMax: 100,
    resultBytesMax: 60,
    turns: { over: true, next: async () => void slices++ },
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
  expect(failures.size).toBe(7); // those that are refused have been applied too
  expect(slices).toBe(ops.length);
});
