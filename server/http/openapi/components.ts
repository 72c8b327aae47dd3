// Turns objects nested in the OpenAPI schemas into named components. Clients generated from the document then
// have named types, and an object that several schemas contain is written only once.
import { isObject } from "../../ground/input/json-value.js";
import type { JsonSchema } from "../../ground/input/readers.js";

/**
 * The names to give to nested objects, by path. A path is a schema's name followed by the members that lead
 * to the object, for example "Index.schema".
 */
type Names = Readonly<Record<string, string>>;

/**
 * Returns the schemas plus a component for each nested object in `names`. In the schemas, references replace
 * the nested objects.
 */
export function withParts(
  schemas: Readonly<Record<string, JsonSchema>>,
  names: Names,
): Record<string, JsonSchema> {
  const all = new Map(Object.entries(schemas));
  /**
   * Component names. Keyed by an object's `properties`, because copies of a schema that differ only in their
   * description share that object.
   */
  const known = new Map<unknown, string>();
  for (const [name, { properties }] of all) if (properties !== undefined) known.set(properties, name);
  for (const [name, schema] of Object.entries(schemas)) {
    for (const { place, part } of partsOf(schema, name)) {
      const own = names[place];
      if (own === undefined || known.has(part.properties)) continue;
      known.set(part.properties, own);
      const { description: _, ...described } = part;
      all.set(own, described);
    }
  }
  return Object.fromEntries(Array.from(all, ([name, schema]) => [name, insideOf(schema, known)]));
}

/** Yields each object schema nested in `node` that has `properties`, outer objects before inner ones. */
export function* partsOf(
  node: unknown,
  place: string,
): Generator<{ readonly place: string; readonly part: JsonSchema }> {
  if (!isObject(node) && !Array.isArray(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === "properties") {
      for (const [member, schema] of Object.entries(value as object))
        yield* partAndItsParts(schema, `${place}.${member}`);
    } else yield* partAndItsParts(value, place);
  }
}

function* partAndItsParts(node: unknown, place: string): ReturnType<typeof partsOf> {
  if (isObject(node) && isObject(node.properties)) yield { place, part: node };
  yield* partsOf(node, place);
}

function insideOf(schema: JsonSchema, known: ReadonlyMap<unknown, string>): JsonSchema {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, referring(value, known)]));
}

function referring(node: unknown, known: ReadonlyMap<unknown, string>): unknown {
  if (Array.isArray(node)) return node.map((item) => referring(item, known));
  if (!isObject(node)) return node;
  const name = known.get(node.properties);
  if (name === undefined) return insideOf(node, known);
  const { description } = node;
  return { ...ref(name), ...(description === undefined ? {} : { description }) };
}

export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
