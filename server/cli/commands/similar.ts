// `skein similar` lists the documents similar to one of an index's documents.
import { Command } from "commander";
import { parseExact } from "../api.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { type SimilarAnswer, similarLines } from "../results.js";
import { widthOf } from "../show.js";
import { wholeNumber } from "../whole-number.js";

interface SimilarOptions extends GlobalOptions {
  readonly filter?: string;
  readonly fields?: string;
  readonly perPage?: number;
}

const EXAMPLES = `
Examples:
  skein similar products sku-4711
  skein similar products sku-4711 --filter "in_stock:true" --fields title,price --per-page 5

The similarity is the cosine of the two documents' vectors, at most 1. In an index without vectors, documents that share
rare words are listed, without a similarity.`;

export function similarCommand(): Command {
  const command = new Command("similar")
    .description("list the documents most similar to a given one")
    .argument("<index>", "the index")
    .argument("<id>", "the document's id")
    .option("--filter <expression>", "filter_by, for instance 'price:<100 && brand:=Acme'")
    .option("--fields <names>", "show only these fields (comma-separated)")
    .option("--per-page <n>", "number of documents", wholeNumber)
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(async (index: string, id: string, options: SimilarOptions) => {
    const client = connect(options);
    try {
      const path = `/v1/indexes/${encodeURIComponent(index)}/documents/${encodeURIComponent(id)}/similar`;
      const body = await client.bytes("POST", path, request(options));
      const lines =
        options.json === true
          ? [body.toString("utf8")]
          : similarLines(parseExact(body) as SimilarAnswer, widthOf(process.stdout));
      process.stdout.write(`${lines.join("\n")}\n`);
    } finally {
      client.close();
    }
  });
}

function request({ filter, fields, perPage }: SimilarOptions): Record<string, unknown> {
  return {
    ...(filter === undefined ? {} : { filter_by: filter }),
    ...(fields === undefined ? {} : { fields: fields.split(",").map((name) => name.trim()) }),
    ...(perPage === undefined ? {} : { per_page: perPage }),
  };
}
