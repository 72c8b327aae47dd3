// A shard counts the documents in which words occur together, for the requested generation, and refuses
// invalid requests.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CompanyProgram, encodeCompany } from "../../../../engine-wasm/host/programs/company-program.js";
import {
  type CompanyResult,
  decodeCompanyResult,
} from "../../../../engine-wasm/host/programs/company-result.js";
import { SHARD_LATE } from "../../../../shards/protocol/errors.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { decodeResult, encodeCompanyRequest } from "../../../../shards/protocol/program.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { type TestDocument, TestShard, UID } from "../harness.js";

let location = "";
let shard: TestShard;
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "skein-shard-"));
  shard = await TestShard.open(await LevelStore.open(location));
  shard.oldest = 0;
  await shard.write(Action.UPSERT, [doc("1", "red shirt"), doc("2", "red skirt"), doc("3", "shirt")]);
  await shard.write(Action.DELETE, [{ id: "1" }]);
  await shard.write(Action.UPSERT, [doc("4", "red skirt, red shirt"), doc("2", "blue skirt")]);
});
afterEach(async () => {
  await shard.close();
  await rm(location, { recursive: true });
});

const PROGRAM: CompanyProgram = { slots: [0], words: [["red"]], candidates: [["shirt"], ["skirt"]] };

function doc(id: string, title: string): TestDocument {
  return { id, body: { id, title } };
}

async function ask(generation: number, program = encodeCompany(PROGRAM), deadline = 0): Promise<Uint8Array> {
  const request = { uid: UID, generation, oldestGeneration: 0, deadline, program };
  return decodeResult(await shard.ask(encodeCompanyRequest(request)));
}

test("each generation has its own counts", async () => {
  const counts = async (generation: number): Promise<CompanyResult> =>
    decodeCompanyResult(await ask(generation), PROGRAM);
  const of = (liveRows: number, words: number, shirt: [number, number], skirt: [number, number]) => ({
    liveRows,
    words: [words],
    candidates: [shirt, skirt].map(([documents, together]) => ({ documents, together: [together] })),
  });
  expect(await counts(1)).toEqual(of(3, 2, [2, 1], [1, 1]));
  expect(await counts(2)).toEqual(of(2, 1, [1, 0], [1, 1]));
  expect(await counts(3)).toEqual(of(3, 1, [2, 1], [2, 1]));
});

test("a malformed program and a late one are refused, and the next one is answered", async () => {
  const expected = await ask(3);
  await expect(ask(3, encodeCompany(PROGRAM).subarray(1))).rejects.toThrow("malformed");
  await expect(ask(3, encodeCompany(PROGRAM), Date.now() - 1)).rejects.toMatchObject({ code: SHARD_LATE });
  expect(await ask(3)).toEqual(expected);
});
