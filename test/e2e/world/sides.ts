// Two kinds of index ("sides") for tests of copying and swapping. They differ in every observable way:
// documents, a field, a setting, a rule and a synonym group. An answer that shows both sides is a mixture of
// two indexes.
import { expect } from "vitest";
import { expectStatus, type TestServer } from "./harness.js";
import type { Reply } from "./reply.js";

export interface Side {
  name: string;
  count: number;
}

export const LEFT: Side = { name: "left", count: 30 };
export const RIGHT: Side = { name: "right", count: 45 };

export function schema(side: Side): object {
  const fields = [
    { name: "title", type: "string" },
    { name: "side", type: "string", facet: true },
    { name: `only_${side.name}`, type: "int32" },
  ];
  return { fields };
}

export function documents(side: Side): object[] {
  return Array.from({ length: side.count }, (_, i) => ({
    id: `${side.name}-${i}`,
    title: `thing ${i}`,
    side: side.name,
    [`only_${side.name}`]: i,
  }));
}

/** Creates an index whose every part identifies its side. */
export async function makeSide(server: TestServer, index: string, side: Side): Promise<void> {
  await server.createIndex(index, schema(side), documents(side));
  const highlight = { start_tag: `<${side.name}>` };
  expectStatus(await server.patch(`/v1/indexes/${index}/settings`, { highlight }), 200);
  const rule = { type: "hide", name: side.name, effect: { filter_by: `only_${side.name}:<0` } };
  expectStatus(await server.post(`/v1/indexes/${index}/ranking-rules`, rule), 201);
  const group = { synonyms: [side.name, "object"], enabled: false };
  expectStatus(await server.post(`/v1/indexes/${index}/synonyms`, group), 201);
}

export const QUERY = { q: "thing", facets: ["side"], highlight_fields: "title", per_page: 20 };

/** The side that an answer comes from; throws if the answer shows more than one side. */
export function sideOf(reply: Reply): string {
  expectStatus(reply, 200);
  const { hits, found, facets, data } = reply.json;
  const seen = new Set<string>();
  for (const hit of hits) {
    seen.add(String(hit.document.side));
    seen.add(/^<(\w+)>/.exec(hit.highlight.title!.snippet)![1]!);
  }
  for (const value of Object.keys(facets.side!)) seen.add(value);
  if (hits.length !== 20 || seen.size !== 1) throw new Error(`a mixture of ${[...seen]}: ${reply.text}`);
  const [side] = seen;
  expect([found, data.out_of, facets.side![side!]]).toEqual([found, found, found]);
  return side!;
}

/**
 * Returns the index's side according to its schema, settings, rules and synonyms. Throws if these, or a
 * query, show another side.
 */
export async function sideOfRecords(server: TestServer, index: string): Promise<string> {
  const of = async (path: string) => (await server.get(`/v1/indexes/${index}${path}`)).json.data;
  const { schema: shown, records_count, name } = await of("");
  expect(name).toBe(index);
  const side = shown.fields[2]!.name.replace("only_", "");
  const { highlight } = (await of("/settings")) as unknown as { highlight: { start_tag: string } };
  const rules = (await of("/ranking-rules")) as unknown as { name: string }[];
  const groups = (await of("/synonyms")) as unknown as { synonyms: string[] }[];
  expect([
    highlight.start_tag,
    ...rules.map((rule) => rule.name),
    ...groups.map((g) => g.synonyms[0]),
  ]).toEqual([`<${side}>`, side, side]);
  const answer = await server.query(index, QUERY);
  expect([sideOf(answer), answer.json.found]).toEqual([side, records_count]);
  return side;
}
