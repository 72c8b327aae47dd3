// OpenAPI paths for ranking rules, synonyms, copying and swapping. Plain data.

import { CURATED, CURATED_KINDS, type CuratedKind } from "../../indexes/curated-kinds.js";
import { ref } from "./components.js";
import { data, jsonBody, listOf, operation, type PathItem, pathParameter } from "./operations.js";

const INDEX = pathParameter("name", "Name of the index.");
const NUMBER = pathParameter("id", "Number of the record.", "integer");

/** The paths for one kind of curated record, such as synonyms. */
function recordPaths(kind: CuratedKind): Readonly<Record<string, PathItem>> {
  const { path, schema, noun, one, all } = CURATED[kind];
  const record = ref(schema);
  const place = { parameters: [INDEX, NUMBER] };
  return {
    [`/v1/indexes/{name}/${path}`]: {
      get: operation("rules", `list${all}`, `All ${noun}s of an index.`, {
        parameters: [INDEX],
        replies: { 200: data("By id.", listOf(schema)) },
      }),
      post: operation("rules", `create${one}`, `Make a ${noun}.`, {
        parameters: [INDEX],
        body: jsonBody(`${schema}Input`),
        replies: { 201: data("Made.", record) },
      }),
    },
    [`/v1/indexes/{name}/${path}/{id}`]: {
      get: operation("rules", `get${one}`, `One ${noun}.`, {
        ...place,
        replies: { 200: data(`The ${noun}.`, record) },
      }),
      patch: operation("rules", `update${one}`, `Change a ${noun}; null restores a default.`, {
        ...place,
        body: jsonBody(`${schema}Change`),
        replies: { 200: data(`The changed ${noun}.`, record) },
      }),
      delete: operation("rules", `delete${one}`, `Delete a ${noun}.`, {
        ...place,
        replies: { 200: data("Deleted.", ref("Deleted")) },
      }),
    },
  };
}

export const curationPaths: Readonly<Record<string, PathItem>> = {
  "/v1/indexes/{name}/copy-settings-from": {
    post: operation("indexes", "copySettings", "Take settings, synonyms and rules over from another index.", {
      parameters: [INDEX],
      body: jsonBody("CopySettings"),
      replies: { 200: data("What was copied, all at once.", ref("CopiedSettings")) },
      also: [409],
    }),
  },
  "/v1/indexes/{name}/swap-with": {
    post: operation("indexes", "swapIndexes", "Exchange two indexes, or replace one by the other.", {
      parameters: [INDEX],
      body: jsonBody("Swap"),
      replies: { 200: data("Swapped, all at once.", ref("Swapped")) },
    }),
  },
  ...Object.assign({}, ...CURATED_KINDS.map(recordPaths)),
};
