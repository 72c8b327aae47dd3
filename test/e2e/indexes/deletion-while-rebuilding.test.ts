// Deletion by filter during re-indexing. Segments with the former schema lack the new types and fields, so
// evaluating a filter on them would delete too few documents, or too many if the filter is negated. Each
// shard's first attempt to re-index fails and is retried seconds later; the deletion is requested in between.
import { afterAll, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { World } from "../faults/fault-world.js";
import { expectStatus, type TestServer } from "../world/harness.js";

const DOCUMENTS = Array.from({ length: 240 }, (_, i) => ({
  id: `d${i}`,
  title: "a thing",
  size: i % 4,
  weight: i % 5,
  color: i % 3 === 0 ? "red" : "blue",
}));

interface Change {
  what: string;
  /** The field's new definition; the schema is changed before the deletion. */
  field: object;
  /** A second schema change, made while the deletion waits. */
  later?: object;
  filter: string;
  /** True if the filter matches the document. */
  matches: (document: (typeof DOCUMENTS)[number]) => boolean;
}

const CHANGES: readonly Change[] = [
  {
    what: "another type",
    field: { name: "size", type: "float" },
    filter: "size:=3",
    matches: ({ size }) => size === 3,
  },
  {
    what: "another type and then a third",
    field: { name: "size", type: "float" },
    later: { name: "size", type: "int64" },
    filter: "size:=3",
    matches: ({ size }) => size === 3,
  },
  {
    what: "a field that was not declared",
    field: { name: "color", type: "string", facet: true },
    filter: "color:=red",
    matches: ({ color }) => color === "red",
  },
  {
    what: "a field that was not indexed",
    field: { name: "weight", index: true },
    filter: "weight:<2",
    matches: ({ weight }) => weight < 2,
  },
  {
    what: "a negation",
    field: { name: "color", type: "string", facet: true },
    filter: "color:!=red",
    matches: ({ color }) => color !== "red",
  },
];

const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
});

async function idsOf(server: TestServer, path: string): Promise<Set<string>> {
  const { text } = await server.raw("GET", `${path}/documents/export`);
  const lines = text.split("\n").filter((line) => line !== "");
  return new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
}

/** Changes the schema, deletes by filter, and checks the result. */
async function change(server: TestServer, { what, field, later, filter, matches }: Change): Promise<void> {
  const path = `/v1/indexes/${what.replaceAll(" ", "-")}`;
  expectStatus(await server.patch(path, { schema: { fields: [field] } }), 200);
  expect((await server.get(path)).json.data.status, what).toBe("rebuilding");
  const deletion = server.delete(`${path}/documents?filter_by=${encodeURIComponent(filter)}`);
  if (later !== undefined) expectStatus(await server.patch(path, { schema: { fields: [later] } }), 200);
  const reply = await deletion;
  expectStatus(reply, 200);
  const ids = await idsOf(server, path);
  const wronglyKept = DOCUMENTS.filter((one) => matches(one) && ids.has(one.id)).length;
  const wronglyDeleted = DOCUMENTS.filter((one) => !matches(one) && !ids.has(one.id)).length;
  expect.soft({ wronglyKept, wronglyDeleted }, what).toEqual({ wronglyKept: 0, wronglyDeleted: 0 });
  expect.soft(reply.json.data, what).toEqual({ deleted: DOCUMENTS.filter(matches).length });
}

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "size", type: "int32" },
    { name: "weight", type: "int32", index: false },
  ],
};

test.each(effort([1, 3], [1, 2, 3, 8]))(
  "over %i shards a deletion applies to what the new schema matches",
  async (shards) => {
    const world = new World({ limits: { homeDocumentsMax: 1 } });
    worlds.push(world);
    world.shards = shards;
    const server = await world.start();
    for (const { what } of CHANGES) await server.createIndex(what.replaceAll(" ", "-"), SCHEMA, DOCUMENTS);
    world.arm("reindex.before-build", ...new Array<"throw">(shards * CHANGES.length).fill("throw"));
    await Promise.all(CHANGES.map((one) => change(server, one)));
  },
);

test("a deletion ends before the index that a swap displaced is dropped", async () => {
  const world = new World({ limits: { searchMsMax: 60_000 } });
  worlds.push(world);
  const server = await world.start();
  await server.createIndex("live", SCHEMA, DOCUMENTS);
  await server.createIndex("next", SCHEMA, [{ id: "new", title: "a thing", size: 3 }]);
  world.arm("reindex.before-build", "throw");
  expectStatus(
    await server.patch("/v1/indexes/live", { schema: { fields: [{ name: "size", type: "float" }] } }),
    200,
  );
  const deletion = server.delete("/v1/indexes/live/documents?filter_by=size:%3D3");
  await server.holds(1);
  const swap = { target_index: "next", drop_source_after: true };
  expectStatus(await server.post("/v1/indexes/live/swap-with", swap), 200);
  expect((await deletion).json.data).toEqual({ deleted: DOCUMENTS.length / 4 });
  expect(await idsOf(server, "/v1/indexes/live")).toEqual(new Set(["new"]));
});
