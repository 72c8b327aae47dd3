// `skein keys` creates, lists, rotates and deletes API keys. A key's value is shown only once, when it is
// created or rotated.

import { Command } from "commander";
import { SCOPES } from "../../catalog/records/key.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { tableText } from "../show.js";
import { wholeNumber } from "../whole-number.js";

interface KeyEntry {
  readonly id: number;
  readonly name: string;
  readonly prefix?: string;
  readonly scopes: readonly string[];
  readonly indexes: readonly string[];
  readonly expires_at?: string | null;
  readonly last_used_on?: string | null;
}

interface CreateOptions extends GlobalOptions {
  readonly scopes: string;
  readonly indexes?: string;
  readonly expires?: string;
}

const EXAMPLES = `
Examples:
  skein keys create web --scopes search --indexes "products*"
  skein keys create loader --scopes documents,indexes --expires 2031-01-01T00:00:00Z
  skein keys list
  skein keys rotate 3 --grace 86400
  skein keys delete 3

Scopes: ${SCOPES.join(", ")}.`;

export function keysCommand(): Command {
  const keys = new Command("keys")
    .description("create, list, rotate and delete API keys")
    .addHelpText("after", EXAMPLES);
  const create = new Command("create")
    .description("create a key and print its value, which is not shown again")
    .argument("<name>", "what the key is for")
    .option("--scopes <list>", "what the key may do (comma-separated)", "search")
    .option(
      "--indexes <patterns>",
      "the indexes it covers, for instance products* (comma-separated; default: all)",
    )
    .option("--expires <time>", "when the key expires, an ISO 8601 time (never)");
  const list = new Command("list").description("list the keys (without their values)");
  const remove = new Command("delete")
    .description("delete a key; it stops working immediately")
    .argument("<id>");
  keys.addCommand(withGlobalOptions(create).action(createKey));
  keys.addCommand(withGlobalOptions(list).action(listKeys));
  const rotate = new Command("rotate")
    .description("replace the value of a key and print the new one, which is not shown again")
    .argument("<id>")
    .option("--grace <seconds>", "how long the old value remains valid (0)", wholeNumber);
  keys.addCommand(withGlobalOptions(rotate).action(rotateKey));
  keys.addCommand(withGlobalOptions(remove).action(deleteKey));
  return keys;
}

async function createKey(name: string, options: CreateOptions): Promise<void> {
  const body: Record<string, unknown> = { name, scopes: entries(options.scopes) };
  if (options.indexes !== undefined) body.indexes = entries(options.indexes);
  if (options.expires !== undefined) body.expires_at = options.expires;
  printValue(options, await ask(options, "POST", "/v1/keys", body));
}

interface RotateOptions extends GlobalOptions {
  readonly grace?: number;
}

async function rotateKey(id: string, options: RotateOptions): Promise<void> {
  const body = options.grace === undefined ? {} : { grace_s: options.grace };
  printValue(options, await ask(options, "POST", `/v1/keys/${encodeURIComponent(id)}/rotate`, body));
}

function printValue(options: GlobalOptions, answer: unknown): void {
  const { data } = answer as { data: KeyEntry & { key?: string } };
  process.stdout.write(`${options.json === true ? JSON.stringify(answer) : (data.key ?? "")}\n`);
}

async function listKeys(options: GlobalOptions): Promise<void> {
  const answer = (await ask(options, "GET", "/v1/keys")) as { data: readonly KeyEntry[] };
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    return;
  }
  if (answer.data.length === 0) {
    process.stdout.write("No keys but the admin key.\n");
    return;
  }
  const titles = ["id", "name", "key", "scopes", "indexes", "expires", "last used"];
  const rows = answer.data.map((key) => [
    String(key.id),
    key.name,
    key.prefix === undefined ? "" : `${key.prefix}...`,
    key.scopes.join(", "),
    key.indexes.join(", "),
    key.expires_at ?? "never",
    key.last_used_on ?? "",
  ]);
  process.stdout.write(`${tableText(titles, rows)}\n`);
}

async function deleteKey(id: string, options: GlobalOptions): Promise<void> {
  const answer = await ask(options, "DELETE", `/v1/keys/${encodeURIComponent(id)}`);
  process.stdout.write(options.json === true ? `${JSON.stringify(answer)}\n` : `Key ${id} is deleted.\n`);
}

async function ask(options: GlobalOptions, method: string, path: string, body?: unknown): Promise<unknown> {
  const client = connect(options);
  try {
    return await client.json(method, path, body);
  } finally {
    client.close();
  }
}

function entries(list: string): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
