// Sends one request to the server and prints the reply in readable form, or as JSON with --json.
import type { ApiClient } from "./api.js";
import { connect, type GlobalOptions } from "./connection.js";
import { renderTable } from "./table.js";

/** Sends the request and prints the reply's data as formatted by `text`. Throws the client's errors. */
export async function show<T>(
  options: GlobalOptions,
  method: string,
  path: string,
  body: unknown,
  text: (data: T) => string,
): Promise<void> {
  const client: ApiClient = connect(options);
  try {
    print(options, (await client.json(method, path, body)) as { data: T }, text);
  } finally {
    client.close();
  }
}

export function print<T>(options: GlobalOptions, answer: { data: T }, text: (data: T) => string): void {
  process.stdout.write(`${options.json === true ? JSON.stringify(answer) : text(answer.data)}\n`);
}

/** The terminal's width in columns. Infinite if the output goes to a file or another program. */
export function widthOf({ columns }: { readonly columns?: number }): number {
  return columns ?? Number.POSITIVE_INFINITY;
}

/** Lays out rows as a table that fits the terminal. */
export function tableText(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = titles.map((title) => ({ title }));
  return renderTable(columns, rows, widthOf(process.stdout)).join("\n");
}
