// `skein synonyms` lists an index's synonym groups, and adds groups from a file.

import { Command } from "commander";
import type { SynonymGroup } from "../../catalog/records/synonym.js";
import { messageOf } from "../../documents/formats/input-error.js";
import { readArray, readLines } from "../../documents/formats/records.js";
import { openSource } from "../../documents/formats/source.js";
import { type ApiClient, RefusedError } from "../api.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { EXIT_FINE, EXIT_SOME_REJECTED } from "../failure.js";
import { tableText } from "../show.js";

interface SynonymsOptions extends GlobalOptions {
  readonly import?: string;
}

const EXAMPLES = `
Examples:
  skein synonyms products
  skein synonyms products --import groups.jsonl

Each line of the file is a group: {"synonyms": ["tv", "television"]}, or
{"type": "one_way", "root": "shoe", "synonyms": ["sneaker", "boot"]}.`;

export function synonymsCommand(setExit: (code: number) => void): Command {
  const command = new Command("synonyms")
    .description("list an index's synonym groups, or add groups from a file")
    .argument("<index>")
    .option(
      "--import <file>",
      "add the groups in this file: JSON lines or a JSON array, optionally gzipped; - for standard input",
    )
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(async (index: string, options: SynonymsOptions) => {
    const client = connect(options);
    const path = `/v1/indexes/${encodeURIComponent(index)}/synonyms`;
    try {
      if (options.import === undefined) await list(client, path, options.json === true);
      else setExit(await addAll(client, path, options.import, options.json === true));
    } finally {
      client.close();
    }
  });
}

async function list(client: ApiClient, path: string, json: boolean): Promise<void> {
  const answer = (await client.json("GET", path)) as { data: readonly SynonymGroup[] };
  process.stdout.write(`${json ? JSON.stringify(answer) : groupTable(answer.data)}\n`);
}

/** Sends the groups one by one. A refused group does not stop the rest; any other error does. */
async function addAll(client: ApiClient, path: string, file: string, json: boolean): Promise<number> {
  const source = await openSource(file, null);
  const groups = source.format === "json" ? readArray(source.chunks) : readLines(source.chunks);
  let added = 0;
  let refused = 0;
  for await (const records of groups) {
    for (const { at, bytes, problem } of records) {
      const why = problem ?? (await add(client, path, bytes));
      if (why === null) added++;
      else {
        refused++;
        process.stderr.write(`skein: group ${at}: ${why}\n`);
      }
    }
  }
  const summary = json ? JSON.stringify({ added, refused }) : `${added} groups added, ${refused} refused`;
  process.stdout.write(`${summary}\n`);
  return refused === 0 ? EXIT_FINE : EXIT_SOME_REJECTED;
}

/** Adds one group. Returns null, or why the group was refused. */
async function add(client: ApiClient, path: string, bytes: Buffer): Promise<string | null> {
  try {
    await client.json("POST", path, JSON.parse(bytes.toString("utf8")));
    return null;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof RefusedError && error.code === "SK-SY-400"))
      return messageOf(error);
    throw error;
  }
}

function groupTable(groups: readonly SynonymGroup[]): string {
  if (groups.length === 0) return "The index has no synonym groups.";
  const rows = groups.map(({ id, type, root, synonyms, enabled }) => [
    String(id),
    type,
    root === null
      ? synonyms.join(" = ")
      : `${root} -> ${synonyms.filter((entry) => entry !== root).join(", ")}`,
    enabled ? "on" : "off",
  ]);
  return tableText(["id", "type", "synonyms", "state"], rows);
}
