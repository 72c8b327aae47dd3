// Search libraries that run inside this process. Each has `index(documents, fields)`, `search(q, perPage)`
// and `close()`. `search` returns the number of matches, or null if the library does not report it;
// `count(q)` then counts them outside the measured time.
import { createRequire } from "node:module";
import { create, insertMultiple, search } from "@orama/orama";
import FlexSearch from "flexsearch";
import MiniSearch from "minisearch";

const require = createRequire(import.meta.url);
const { dependencies } = require("./package.json");

/** Skein's default: 1 typo for words of 4 or more letters, 2 for 8 or more. */
const typosOf = (word) => (word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0);

export function miniSearch() {
  let index = null;
  return {
    name: "MiniSearch",
    version: dependencies.minisearch,
    how: "in process; all words, last as prefix, 1 typo from 4 letters, 2 from 8",
    inProcess: true,
    index: (documents, fields) => {
      index = new MiniSearch({ fields });
      index.addAll(documents);
    },
    search: (q) =>
      index.search(q, {
        combineWith: "AND",
        prefix: (_term, i, terms) => i === terms.length - 1,
        fuzzy: typosOf,
      }).length,
    close: () => {
      index = null;
    },
  };
}

export function orama() {
  let index = null;
  let properties = [];
  return {
    name: "Orama",
    version: dependencies["@orama/orama"],
    how: "in process; all words, each as prefix, 1 typo",
    inProcess: true,
    index: async (documents, fields) => {
      properties = fields;
      index = create({ schema: Object.fromEntries(fields.map((name) => [name, "string"])) });
      await insertMultiple(index, documents, 1000);
    },
    search: async (term, limit) =>
      (await search(index, { term, properties, limit, threshold: 0, tolerance: 1 })).count,
    close: () => {
      index = null;
    },
  };
}

export function flexSearch() {
  let index = null;
  return {
    name: "FlexSearch",
    version: dependencies.flexsearch,
    how: "in process; all words in one field, each as prefix, no typos",
    inProcess: true,
    index: (documents, fields) => {
      index = new FlexSearch.Document({ document: { id: "id", index: fields }, tokenize: "forward" });
      for (const document of documents) index.add(document);
    },
    search: (q, limit) => {
      index.search(q, { limit, merge: true });
      return null;
    },
    count: (q) => index.search(q, { limit: 1_000_000, merge: true }).length,
    close: () => {
      index = null;
    },
  };
}
