// The coach on indexes without default search fields: it searches the fields named in the queries, and logs
// no errors for an index without any text field.
import { expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const PEOPLE = ["ann", "bob", "cem", "dan", "eve"];
const server = sharedServer({ shards: 1, quiet: true });

/** Has five people search, applies `change`, and returns the texts that the coach reports as gaps. */
async function gapsAfter(name: string, q: string, change: () => Promise<unknown>): Promise<unknown[]> {
  await server.createIndex(name, {
    fields: [
      { name: "title", type: "string" },
      { name: "price", type: "float" },
    ],
  });
  for (const user of PEOPLE)
    expectStatus(await server.query(name, { q, query_by: "title", user_id: user }), 200);
  await change();
  const reply = await server.post(`/v1/indexes/${name}/coach/analyze`, {});
  expectStatus(reply, 200);
  expect(reply.json.data.events_analyzed).toBe(PEOPLE.length);
  const advice = reply.json.data.recommendations as { payload: { query: string } }[];
  return advice.map(({ payload }) => payload.query);
}

test("an index whose text fields were dropped finds nothing", async () => {
  const schema = { fields: [{ name: "title", drop: true }] };
  const drop = async (): Promise<void> =>
    expectStatus(await server.patch("/v1/indexes/bare", { schema }), 200);
  expect(await gapsAfter("bare", "umbrella", drop)).toEqual(["umbrella"]);
});

test("an index without searchable attributes searches all of its text", async () => {
  const settings = { searchable_attributes: [] };
  const fill = async (): Promise<void> => {
    expectStatus(await server.patch("/v1/indexes/named/settings", settings), 200);
    const documents = [{ id: "1", title: "an umbrella" }];
    expectStatus(await server.post("/v1/indexes/named/documents/batch", { documents }), 200);
  };
  expect(await gapsAfter("named", "umbrella", fill)).toEqual([]);
  expect(await gapsAfter("other", "parasol", async () => undefined)).toEqual(["parasol"]);
});
