// `skein import` imports a file or standard input into an index. Connects the readers and schema inference of
// server/documents/formats with the sender in cli/upload, and reports the result.

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { type DocumentInput, openDocuments } from "../../documents/formats/documents.js";
import { type Inference, inferSchema } from "../../documents/formats/infer.js";
import { messageOf } from "../../documents/formats/input-error.js";
import { Observer } from "../../documents/formats/observe.js";
import { FORMATS, type Format, openSource, type Source } from "../../documents/formats/source.js";
import type { FieldType } from "../../ground/field-types.js";
import type { ApiClient } from "../api.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { CliError, EXIT_FINE, EXIT_SOME_REJECTED } from "../failure.js";
import { schemaLines } from "../schema-table.js";
import { widthOf } from "../show.js";
import { grouped, oneLine } from "../table.js";
import { UploadProgress } from "../upload/progress.js";
import {
  ACTIONS,
  type ImportAction,
  type Rejection,
  type UploadCounts,
  UploadStopped,
  upload,
} from "../upload/sender.js";
import { createIndex, fieldTypes, findIndex, readSchemaFile } from "./index-setup.js";

interface ImportOptions extends GlobalOptions {
  readonly index: string;
  readonly schema?: string;
  readonly id?: string;
  readonly action: ImportAction;
  readonly batchSize: number;
  readonly parallel: number;
  readonly rejected?: string;
  readonly format?: Format;
  readonly delimiter?: string;
  readonly dryRun?: boolean;
}

const SAMPLE_DOCUMENTS = 2000;
const REJECTED_SHOWN = 20;

const EXAMPLES = `
Examples:
  skein import products.jsonl.gz --index products
  skein import shop.csv --index shop --id sku
  zcat dump.json.gz | skein import - --index dump
  skein import products.csv --index products --dry-run --json > schema.json
  skein import products.csv --index products --schema schema.json

Format and compression are detected from the content. Exit code: 0 all documents accepted, 1 some rejected, 2 failed.`;

export function importCommand(setExit: (code: number) => void): Command {
  const command = new Command("import")
    .description("load documents from JSON lines, a JSON array or CSV, optionally gzipped")
    .argument("<file>", "the file, or - for standard input")
    .requiredOption("--index <name>", "the index; created with an inferred schema if it does not exist")
    .option("--schema <file>", "create the index with this schema instead of an inferred one")
    .option("--id <field>", "take the document id from this field")
    .addOption(
      new Option("--action <action>", "what to do with each document").choices(ACTIONS).default("upsert"),
    )
    .option("--batch-size <n>", "documents per request", positive(10_000), 1000)
    .option("--parallel <n>", "concurrent requests", positive(64), 4)
    .option(
      "--rejected <file>",
      "write the line, id and error of each rejected document to this file (JSON lines)",
    )
    .addOption(new Option("--format <format>", "use this format instead of detecting it").choices(FORMATS))
    .option("--delimiter <character>", "the CSV delimiter, if it is not comma, semicolon, tab or |")
    .option("--dry-run", "show the inferred schema and stop")
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(async (file: string, options: ImportOptions) => {
    setExit(await runImport(file, options));
  });
}

async function runImport(file: string, options: ImportOptions): Promise<number> {
  const source = await openSource(file, options.format ?? null);
  const input = await openDocuments(source, {
    idField: options.id ?? null,
    delimiter: options.delimiter ?? null,
    sampleDocuments: SAMPLE_DOCUMENTS,
  });
  if (options.dryRun === true) {
    showSchema(inferFrom(input, source), options, process.stdout);
    return EXIT_FINE;
  }
  const client = connect(options, process.env, options.parallel);
  try {
    const types = await prepareIndex(client, input, source, options);
    return await send(client, input, types, source, options);
  } finally {
    client.close();
  }
}

/** Infers a schema from the first documents. Throws CliError if they cannot be imported. */
export function inferFrom(input: DocumentInput, source: Pick<Source, "name">): Inference {
  const observer = new Observer();
  for (const document of input.sample) observer.add(document.bytes);
  if (input.sample.length === 0) throw new CliError(`${source.name} contains no documents`);
  if (observer.documents === 0) {
    const first = input.sample[0]!;
    throw new CliError(
      `${source.name} contains no JSON documents (record ${first.at}: ${first.problem ?? "not JSON"})`,
    );
  }
  const withoutId = input.sample.filter((document) => document.problem?.startsWith("no field") === true);
  if (withoutId.length === input.sample.length) {
    const names = [...observer.fields.keys()].slice(0, 12).join(", ");
    throw new CliError(`${withoutId[0]!.problem} in the documents; choose one with --id FIELD (${names})`);
  }
  return inferSchema(observer.fields.values(), observer.documents);
}

/** Creates the index if it does not exist. Returns the types that its schema declares for its fields. */
async function prepareIndex(
  client: ApiClient,
  input: DocumentInput,
  source: Source,
  options: ImportOptions,
): Promise<ReadonlyMap<string, FieldType>> {
  const existing = await findIndex(client, options.index);
  if (existing !== null) {
    if (options.schema !== undefined) {
      throw new CliError(
        `--schema: the index ${options.index} already exists; omit --schema or use a new name`,
      );
    }
    note(
      options,
      `Index ${options.index} exists with ${grouped(existing.records)} documents; its schema is kept.`,
    );
    return existing.types;
  }
  if (options.schema !== undefined) {
    const schema = await readSchemaFile(options.schema);
    await createIndex(client, options.index, schema);
    note(options, `Created index ${options.index} from ${options.schema}.`);
    return fieldTypes(schema.fields);
  }
  const inference = inferFrom(input, source);
  await createIndex(client, options.index, inference.schema);
  if (options.json !== true) {
    note(
      options,
      `Created index ${options.index}; its schema from the first ${grouped(input.sample.length)} documents:\n`,
    );
    showSchema(inference, options, process.stdout);
    note(options, "");
  }
  return fieldTypes(inference.schema.fields);
}

async function send(
  client: ApiClient,
  input: DocumentInput,
  types: ReadonlyMap<string, FieldType>,
  source: Source,
  options: ImportOptions,
): Promise<number> {
  const rejections: Rejection[] = [];
  const file = options.rejected === undefined ? null : await openRejectedFile(options.rejected);
  const progress = new UploadProgress(source, process.stderr);
  let counts: Readonly<UploadCounts>;
  let stopped: UploadStopped | null = null;
  try {
    counts = await upload(client, input.all(types), {
      index: options.index,
      action: options.action,
      batchSize: options.batchSize,
      parallel: options.parallel,
      onProgress: (sent) => progress.update(sent),
      onRejected: (rejection) => {
        if (rejections.length < REJECTED_SHOWN) rejections.push(rejection);
        file?.write(`${JSON.stringify(rejection)}\n`);
      },
    });
  } catch (error) {
    if (!(error instanceof UploadStopped)) throw error;
    stopped = error;
    counts = error.counts;
  } finally {
    progress.clear();
    if (file !== null) await closed(file);
  }
  if (options.json === true) {
    const problem = stopped === null ? {} : { error: messageOf(stopped.cause) };
    printSummary({ ...counts, ...problem }, progress.seconds(), rejections, source, options);
  } else {
    printRejections(counts.rejected, rejections, source, options);
    if (stopped === null) printCounts(counts, progress.seconds(), options);
  }
  if (stopped !== null) throw new CliError(`${stopped.message}; ${howToGoOn(options)}`, { cause: stopped });
  return counts.rejected > 0 ? EXIT_SOME_REJECTED : EXIT_FINE;
}

/**
 * Tells the user how to continue an interrupted import. Every document has an id, so running the import again
 * stores nothing twice.
 */
function howToGoOn({ action }: ImportOptions): string {
  const again = "once the cause is fixed, run the same command again:";
  return action === "create"
    ? `${again} it lists them as rejected and stores the others`
    : `${again} nothing is stored twice`;
}

function printSummary(
  counts: { readonly succeeded: number; readonly rejected: number; readonly error?: string },
  seconds: number,
  rejections: readonly Rejection[],
  source: Source,
  options: ImportOptions,
): void {
  const summary = {
    index: options.index,
    file: source.name,
    format: source.format,
    succeeded: counts.succeeded,
    rejected: counts.rejected,
    seconds: Math.round(seconds * 1000) / 1000,
    documents_per_second: perSecond(counts, seconds),
    rejections,
    error: counts.error,
  };
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

function printRejections(
  count: number,
  rejections: readonly Rejection[],
  source: Source,
  options: ImportOptions,
): void {
  const place = source.format === "json" ? "element" : "line";
  for (const { at, id, error, code } of rejections) {
    const codeText = code === "" || error.includes(code) ? "" : ` (${code})`;
    process.stderr.write(
      `rejected: ${place} ${at}${id === null ? "" : `, id ${oneLine(id)}`}: ${oneLine(error)}${codeText}\n`,
    );
  }
  const hidden = count - rejections.length;
  if (hidden > 0) {
    const hint = options.rejected === undefined ? "; --rejected FILE lists all" : ` in ${options.rejected}`;
    process.stderr.write(`... and ${grouped(hidden)} more${hint}\n`);
  }
}

function printCounts(counts: Readonly<UploadCounts>, seconds: number, options: ImportOptions): void {
  const rejected = counts.rejected === 0 ? "none rejected" : `${grouped(counts.rejected)} rejected`;
  process.stdout.write(
    `${grouped(counts.succeeded)} documents in ${options.index}, ${rejected}, ${seconds.toFixed(1)} s (${grouped(perSecond(counts, seconds))}/s)\n`,
  );
}

function perSecond(counts: { readonly succeeded: number }, seconds: number): number {
  return Math.round(counts.succeeded / Math.max(seconds, 0.001));
}

function showSchema(inference: Inference, options: ImportOptions, out: NodeJS.WriteStream): void {
  if (options.json === true) out.write(`${JSON.stringify(inference.schema, null, 2)}\n`);
  else out.write(`${schemaLines(inference, widthOf(out)).join("\n")}\n`);
}

function note(options: GlobalOptions, text: string): void {
  if (options.json !== true) process.stdout.write(`${text}\n`);
}

async function openRejectedFile(path: string): Promise<WriteStream> {
  const file = createWriteStream(path);
  try {
    await once(file, "open");
  } catch (error) {
    throw new CliError(`--rejected: cannot write ${path}: ${(error as Error).message}`);
  }
  return file;
}

async function closed(file: WriteStream): Promise<void> {
  file.end();
  await once(file, "close");
}

function positive(most: number): (text: string) => number {
  return (text) => {
    const n = Number(text);
    if (Number.isInteger(n) && n >= 1 && n <= most) return n;
    throw new InvalidArgumentError(`it must be a whole number from 1 to ${most}`);
  };
}
