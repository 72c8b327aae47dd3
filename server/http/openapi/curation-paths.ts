// The OpenAPI paths of ranking rules, synonyms, copying and swapping. Plain data.
import { data, jsonBody, listOf, operation, type PathItem, pathParameter } from "./operations.js";
import { ref } from "./schemas.js";

const INDEX = pathParameter("name", "Name of the index.");
const NUMBER = pathParameter("id", "Number of the record.", "integer");

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
  "/v1/indexes/{name}/ranking-rules": {
    get: operation("rules", "listRankingRules", "All ranking rules of an index.", {
      parameters: [INDEX],
      replies: { 200: data("By id.", listOf("RankingRule")) },
    }),
    post: operation("rules", "createRankingRule", "Make a ranking rule.", {
      parameters: [INDEX],
      body: jsonBody("RankingRuleInput"),
      replies: { 201: data("Made.", ref("RankingRule")) },
    }),
  },
  "/v1/indexes/{name}/ranking-rules/{id}": {
    get: operation("rules", "getRankingRule", "One ranking rule.", {
      parameters: [INDEX, NUMBER],
      replies: { 200: data("The rule.", ref("RankingRule")) },
    }),
    patch: operation("rules", "updateRankingRule", "Change a ranking rule; null restores a default.", {
      parameters: [INDEX, NUMBER],
      body: jsonBody("RankingRuleChange"),
      replies: { 200: data("The changed rule.", ref("RankingRule")) },
    }),
    delete: operation("rules", "deleteRankingRule", "Delete a ranking rule.", {
      parameters: [INDEX, NUMBER],
      replies: { 200: data("Deleted.", ref("Deleted")) },
    }),
  },
  "/v1/indexes/{name}/synonyms": {
    get: operation("rules", "listSynonyms", "All synonym groups of an index.", {
      parameters: [INDEX],
      replies: { 200: data("By id.", listOf("SynonymGroup")) },
    }),
    post: operation("rules", "createSynonyms", "Make a synonym group.", {
      parameters: [INDEX],
      body: jsonBody("SynonymGroupInput"),
      replies: { 201: data("Made.", ref("SynonymGroup")) },
    }),
  },
  "/v1/indexes/{name}/synonyms/{id}": {
    get: operation("rules", "getSynonyms", "One synonym group.", {
      parameters: [INDEX, NUMBER],
      replies: { 200: data("The group.", ref("SynonymGroup")) },
    }),
    patch: operation("rules", "updateSynonyms", "Change a synonym group; null restores a default.", {
      parameters: [INDEX, NUMBER],
      body: jsonBody("SynonymGroupChange"),
      replies: { 200: data("The changed group.", ref("SynonymGroup")) },
    }),
    delete: operation("rules", "deleteSynonyms", "Delete a synonym group.", {
      parameters: [INDEX, NUMBER],
      replies: { 200: data("Deleted.", ref("Deleted")) },
    }),
  },
};
