// `skein search` runs one query and shows its hits as a table, with facets.

import { Command, Option } from "commander";
import { parseExact } from "../api.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { type QueryAnswer, resultLines } from "../results.js";
import { widthOf } from "../show.js";
import { wholeNumber } from "../whole-number.js";

interface SearchOptions extends GlobalOptions {
  readonly filter?: string;
  readonly facets?: string;
  readonly sort?: string;
  readonly queryBy?: string;
  readonly mode?: string;
  readonly page?: number;
  readonly perPage?: number;
  readonly explain?: boolean;
}

const MODES = ["auto", "keyword", "semantic", "hybrid"];

const EXAMPLES = `
Examples:
  skein search products trail shoes
  skein search products runing --filter "price:<=100 && in_stock:true" --facets brand,category
  skein search products '"merino wool"' -- -socks
  skein search products wifi rooter --explain
  skein search products warm clothes for hiking --mode semantic
  skein search products '*' --sort price:asc --per-page 25

Without words, or with *, all documents are listed. --filter takes the same expressions as filter_by.
The score is a hit's relevance relative to the best hit on the page, which has 100; --json shows the exact numbers.`;

export function searchCommand(): Command {
  const command = new Command("search")
    .description("search an index")
    .argument("<index>", "the index")
    .argument("[words...]", "what to search for")
    .option("--filter <expression>", "filter_by, for instance 'price:<100 && brand:=Acme'")
    .option("--facets <fields>", "count the values of these fields (comma-separated)")
    .option("--sort <keys>", "sort_by, for instance price:asc,rating:desc")
    .option("--query-by <fields>", "search only these fields (comma-separated)")
    .addOption(
      new Option("--mode <mode>", "search by words, by meaning or by both (default: auto)").choices(MODES),
    )
    .option("--page <n>", "page number, from 1", wholeNumber)
    .option("--per-page <n>", "hits per page", wholeNumber)
    .option("--explain", "explain the rank of each hit")
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(async (index: string, words: string[], options: SearchOptions) => {
    const client = connect(options);
    try {
      const body = await client.bytes(
        "POST",
        `/v1/indexes/${encodeURIComponent(index)}/query`,
        query(words, options),
      );
      if (options.json === true) {
        process.stdout.write(`${body.toString("utf8")}\n`);
        return;
      }
      const lines = resultLines(parseExact(body) as QueryAnswer, widthOf(process.stdout));
      process.stdout.write(`${lines.join("\n")}\n`);
    } finally {
      client.close();
    }
  });
}

function query(words: readonly string[], options: SearchOptions): Record<string, unknown> {
  const body: Record<string, unknown> = { q: words.length === 0 ? "*" : words.join(" ") };
  if (options.filter !== undefined) body.filter_by = options.filter;
  if (options.facets !== undefined) body.facet_by = options.facets;
  if (options.sort !== undefined) body.sort_by = options.sort;
  if (options.queryBy !== undefined) body.query_by = options.queryBy;
  if (options.mode !== undefined) body.search_mode = options.mode;
  if (options.page !== undefined) body.page = options.page;
  if (options.perPage !== undefined) body.per_page = options.perPage;
  if (options.explain === true) body.explain = true;
  return body;
}
