// `skein indexes` lists the server's indexes.

import { Command } from "commander";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { widthOf } from "../show.js";
import { grouped, renderTable } from "../table.js";

interface IndexEntry {
  readonly name: string;
  readonly records_count: number;
  readonly status: string;
  readonly created_at: string;
  readonly schema: { readonly fields: readonly unknown[] };
}

const EXAMPLES = `
Examples:
  skein indexes
  skein indexes --json

"skein import FILE --index NAME" creates an index and fills it.`;

export function indexesCommand(): Command {
  const command = new Command("indexes").description("list the indexes").addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(async (options: GlobalOptions) => {
    const client = connect(options);
    try {
      const answer = (await client.json("GET", "/v1/indexes")) as { data: readonly IndexEntry[] };
      process.stdout.write(
        options.json === true ? `${JSON.stringify(answer)}\n` : `${indexTable(answer.data)}\n`,
      );
    } finally {
      client.close();
    }
  });
}

function indexTable(entries: readonly IndexEntry[]): string {
  if (entries.length === 0) return 'No indexes yet; "skein import FILE --index NAME" creates one.';
  const rows = entries.map((entry) => [
    entry.name,
    grouped(entry.records_count),
    String(entry.schema.fields.length),
    entry.status,
    entry.created_at,
  ]);
  const columns = [
    { title: "index", minWidth: 12 },
    { title: "documents", align: "right" as const },
    { title: "fields", align: "right" as const },
    { title: "status" },
    { title: "created", minWidth: 20 },
  ];
  return renderTable(columns, rows, widthOf(process.stdout)).join("\n");
}
