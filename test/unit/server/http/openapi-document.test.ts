// What client generators see in the OpenAPI document: required members and named types.
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { partsOf } from "../../../../server/http/openapi/components.js";
import { OPENAPI } from "../../../../server/http/openapi/document.js";

const { schemas } = OPENAPI.components;

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}

/** Request bodies by operation. */
const bodies = Object.values(OPENAPI.paths).flatMap((item) =>
  Object.values(item).flatMap(({ operationId, requestBody }) =>
    Object.entries((requestBody?.content ?? {}) as Record<string, Media>).map(
      ([type, media]) => [operationId, type, media] as const,
    ),
  ),
);

describe("the OpenAPI document", () => {
  test("has no default in a schema: openapi-typescript would require the member in requests", () => {
    expect(JSON.stringify(schemas)).not.toContain('"default":');
    expect(JSON.stringify(schemas.Query)).toContain("Default: 10.");
  });

  test("requires in common requests only what the server requires", () => {
    const required = (name: string) => schemas[name]!.required ?? [];
    expect(required("Query")).toEqual(["q"]);
    expect(required("SearchSlot")).toEqual(["index", "q"]);
    expect(required("IndexInput")).toEqual(["name", "schema"]);
    expect(required("FieldInput")).toEqual(["name", "type"]);
    expect(required("Batch")).toEqual(["documents"]);
    expect(required("KeyInput")).toEqual(["name", "scopes"]);
    expect(required("SynonymGroupInput")).toEqual(["synonyms"]);
  });

  test("requires a body only where the server does", () => {
    const free = Object.values(OPENAPI.paths).flatMap((item) =>
      Object.values(item).filter(({ requestBody }) => requestBody?.required === false),
    );
    expect(free.map(({ operationId }) => operationId).sort()).toEqual(["rotateKey", "similarDocuments"]);
  });

  test("allows null in a reply only where it can occur", () => {
    expect(schemas.Field!.properties).toMatchObject({ facet: { type: "boolean" } });
    expect(schemas.Settings!.properties).toMatchObject({
      num_typos: { type: "integer" },
      weights: { type: ["array", "null"] },
    });
  });

  test("types the slots of a multi-search", () => {
    expect(schemas.MultiSearch!.properties).toMatchObject({
      searches: { items: { $ref: "#/components/schemas/SearchSlot" } },
    });
  });

  test("has a name for every object", () => {
    const inlined = Object.entries(schemas).flatMap(([name, schema]) =>
      Array.from(partsOf(schema, name), ({ place }) => place),
    );
    expect(inlined).toEqual([]);
  });

  test("states the server's URL", () => expect(OPENAPI.servers[0]!.url).toBe("/"));

  test.each(bodies)(
    "has an example for %s that fits its schema",
    (operationId, type, { schema, example }) => {
      expect(example, operationId).toBeDefined();
      if (type !== "application/json") return;
      const ajv = new Ajv2020({ strict: false });
      formats.default(ajv);
      ajv.addSchema(OPENAPI, "document");
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      const validate = ajv.compile(JSON.parse(text) as object);
      expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    },
  );
});
