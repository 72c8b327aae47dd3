// Deletion by filter during re-indexing. Segments with the former schema lack the new types and fields, so
// evaluating a filter on them deletes too few documents, or too many if the filter is negated. Each shard's
// first attempt to re-index fails and is retried seconds later; the deletion is requested in between.
import { afterAll, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { World } from "../faults/fault-world.js";
import { expectStatus, type TestServer } from "../world/harness.js";

const DOCUMENTS = Array.from({ length: 240 }, (_, i) => ({
  id: `d${i}`,
  title: "a thing",
  size: i % 4,
  color: i % 3 === 0 ? "red" : "blue",
}));

interface Change {
  what: string;
  /** The field as changed before the deletion. */
  field: object;
  /** The field as changed once more while the deletion waits. */
  later?: object;
  filter: string;
  /** True for the documents that the filter matches. */
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

test.each(effort([1, 3], [1, 2, 3, 8]))(
  "over %i shards it deletes what the new schema matches",
  async (shards) => {
    const world = new World({ limits: { homeDocumentsMax: 1 } });
    worlds.push(world);
    world.shards = shards;
    const server = await world.start();
    const schema = {
      fields: [
        { name: "title", type: "string" },
        { name: "size", type: "int32" },
      ],
    };
    for (const { what } of CHANGES) await server.createIndex(what.replaceAll(" ", "-"), schema, DOCUMENTS);
    world.arm("reindex.before-build", ...new Array<"throw">(shards * CHANGES.length).fill("throw"));
    await Promise.all(CHANGES.map((one) => change(server, one)));
  },
);
