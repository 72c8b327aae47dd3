// Tests the OpenAPI check that all end-to-end tests rely on: it must detect every kind of mismatch.
import { describe, expect, test } from "vitest";
import { OpenApiContract } from "./openapi-contract.js";
import type { Reply } from "./reply.js";

const json = (schema: object): { content: object } => ({ content: { "application/json": { schema } } });
const NAMED = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const contract = new OpenApiContract({
  openapi: "3.1.0",
  paths: {
    "/things/{id}": {
      get: {
        responses: {
          200: json({
            type: "object",
            properties: {
              thing: { $ref: "#/components/schemas/Thing" },
              either: { oneOf: [NAMED, { type: "object", properties: { id: { type: "integer" } } }] },
            },
          }),
        },
      },
      post: { requestBody: json(NAMED), responses: { 200: json({ type: "object" }) } },
    },
  },
  components: {
    schemas: {
      Thing: { type: "object", properties: { own: { ...NAMED, additionalProperties: true }, map: {} } },
      Error: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
    },
  },
} as unknown as ConstructorParameters<typeof OpenApiContract>[0]);

function reply(json: object, status = 200, type = "application/json; charset=utf-8"): Reply {
  return { status, headers: { "content-type": type }, text: "", json: json as Reply["json"] };
}

describe("a reply", () => {
  test.each<[what: string, json: object]>([
    ["described members", { thing: { own: { name: "a" }, map: {} }, either: { id: 1 } }],
    ["members of a map and of an open object", { thing: { own: { name: "a", b: 1 }, map: { c: 2 } } }],
  ])("may have %s", (_, json) => contract.checkReply("GET", "/things/1?x=y", reply(json)));

  test.each<[what: string, reply: Reply, why: RegExp]>([
    ["an unknown member", reply({ other: 1 }), /other/],
    ["an unknown member behind a reference", reply({ thing: { other: 1 } }), /other/],
    ["an unknown member of each alternative", reply({ either: { name: "a", id: 1 } }), /either/],
    ["a wrong type", reply({ thing: { own: { name: 1 } } }), /string/],
    ["another status", reply({}, 201), /the status is not in/],
    ["another content type", reply({}, 200, "text/plain"), /the content type text\/plain is not in/],
  ])("must not have %s", (_, wrong, why) =>
    expect(() => contract.checkReply("GET", "/things/1", wrong)).toThrow(why),
  );

  test("HEAD is GET without a body", () => {
    contract.checkReply("HEAD", "/things/1", reply({ other: 1 }));
    expect(() => contract.checkReply("HEAD", "/things/1", reply({}, 201))).toThrow(/the status/);
  });

  test("an undescribed route is refused in the format of every error", () => {
    for (const path of ["/nothing", "/things/1"]) {
      contract.checkReply("DELETE", path, reply({ code: "x" }, 404));
      expect(() => contract.checkReply("DELETE", path, reply({}))).toThrow(/answered, but not in/);
      expect(() => contract.checkReply("DELETE", path, reply({ message: "x" }, 404))).toThrow(/code/);
    }
  });
});

test("an accepted request must be described; a refused one need not be", () => {
  contract.checkRequest("POST", "/things/1", { name: "a", more: 1 }, reply({}));
  contract.checkRequest("POST", "/things/1", { name: 1 }, reply({}, 400));
  expect(() => contract.checkRequest("POST", "/things/1", { name: 1 }, reply({}))).toThrow(/string/);
});
