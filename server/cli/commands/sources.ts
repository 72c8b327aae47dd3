// `skein sources` connects feeds to an index, previews and runs them, and shows recent runs.

import { Command, InvalidArgumentError } from "commander";
import type { SourceView } from "../../documents/sources/data-source.js";
import type { FeedPreview } from "../../documents/sources/feed-task.js";
import type { RunView } from "../../documents/sources/run-view.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { CliError, EXIT_FAILED, EXIT_FINE, EXIT_SOME_REJECTED } from "../failure.js";
import { print, show, tableText } from "../show.js";
import { grouped, oneLine } from "../table.js";
import { followRun } from "./run-progress.js";

interface FeedOptions extends GlobalOptions {
  readonly format: string;
  readonly map: readonly string[];
  readonly user?: string;
  readonly idField?: string;
  readonly itemsPath?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
}

interface AddOptions extends FeedOptions {
  readonly schedule?: string;
  readonly mode?: string;
  readonly maxDeleteRatio?: number;
}

interface SyncOptions extends GlobalOptions {
  readonly wait: boolean;
}

const EXAMPLES = `
Examples:
  skein sources preview products https://shop.example/feed.xml --format brandx_merchant
  skein sources add products https://shop.example/feed.xml --format brandx_merchant --schedule hourly
  skein sources add products https://shop.example/stock.csv --format csv --map "Artikel-Nr=id" --map Titel=title
  skein sources sync products 1
  skein sources runs products 1
  skein sources list products
  skein sources remove products 1

The password for --user is read from SKEIN_FEED_PASSWORD.`;

export function sourcesCommand(setExit: (code: number) => void): Command {
  const sources = new Command("sources")
    .description("connect feeds to an index and import them")
    .addHelpText("after", EXAMPLES);
  const list = new Command("list").description("list an index's data sources").argument("<index>");
  const add = feedOptions(new Command("add").description("connect a feed to an index"))
    .option("--schedule <when>", "manual, hourly, daily or a five-field cron expression in UTC")
    .option("--mode <mode>", "upsert, or replace to also delete documents missing from the feed")
    .option(
      "--max-delete-ratio <part>",
      "the largest share of the index that a run may delete, 0 to 1",
      ratio,
    );
  const preview = feedOptions(
    new Command("preview").description("show the first items of a feed without importing them"),
  );
  const sync = new Command("sync")
    .description("import a feed now and follow the run")
    .argument("<index>")
    .argument("<id>")
    .option("--no-wait", "queue the run and return");
  const runs = new Command("runs")
    .description("list the latest runs of a data source")
    .argument("<index>")
    .argument("<id>");
  const remove = new Command("remove")
    .description("delete a data source; its documents remain")
    .argument("<index>")
    .argument("<id>");
  sources.addCommand(withGlobalOptions(list).action(listSources));
  sources.addCommand(withGlobalOptions(add).action(addSource));
  sources.addCommand(withGlobalOptions(preview).action(previewFeed));
  sources.addCommand(
    withGlobalOptions(sync).action(async (index: string, id: string, options: SyncOptions) =>
      setExit(await syncNow(index, id, options)),
    ),
  );
  sources.addCommand(withGlobalOptions(runs).action(listRuns));
  sources.addCommand(withGlobalOptions(remove).action(removeSource));
  return sources;
}

function feedOptions(command: Command): Command {
  const collect = (entry: string, entries: readonly string[]): string[] => [...entries, entry];
  return command
    .argument("<index>")
    .argument("<url>")
    .requiredOption("--format <format>", "brandx_merchant, brandx_catalog, json or csv")
    .option(
      "--map <from=to>",
      "map a field of the feed to a field of the schema; may be repeated",
      collect,
      [],
    )
    .option("--user <name>", "user name for the feed's server (HTTP basic authentication)")
    .option("--id-field <path>", "path of the id within an item")
    .option("--items-path <path>", "where the items are: a JSON pointer or an XML element path")
    .option("--delimiter <character>", "CSV delimiter (detected)")
    .option("--encoding <name>", "encoding of the feed (the one the feed declares, or UTF-8)");
}

async function listSources(index: string, options: GlobalOptions): Promise<void> {
  await show(options, "GET", sourcesPath(index), undefined, (sources: readonly SourceView[]) => {
    if (sources.length === 0) return "The index has no data sources.";
    const rows = sources.map((source) => [
      String(source.id),
      source.url,
      source.format,
      source.schedule,
      source.sync_mode,
      stateOf(source),
      minuteOf(source.next_run_at),
    ]);
    return tableText(["id", "url", "format", "schedule", "mode", "last run (UTC)", "next run (UTC)"], rows);
  });
}

async function addSource(index: string, url: string, options: AddOptions): Promise<void> {
  const body = {
    ...feedBody(url, options),
    ...(options.schedule === undefined ? {} : { schedule: options.schedule }),
    ...(options.mode === undefined ? {} : { sync_mode: options.mode }),
    ...(options.maxDeleteRatio === undefined ? {} : { max_delete_ratio: options.maxDeleteRatio }),
  };
  await show(options, "POST", sourcesPath(index), body, ({ id, next_run_at }: SourceView) => {
    const next =
      next_run_at === null ? `read it with: skein sources sync ${index} ${id}` : `next run ${next_run_at}`;
    return `Data source ${id} is connected; ${next}`;
  });
}

async function previewFeed(index: string, url: string, options: FeedOptions): Promise<void> {
  await show(
    options,
    "POST",
    `${sourcesPath(index)}/preview`,
    feedBody(url, options),
    (preview: FeedPreview) => {
      const documents = preview.items.map(({ document, errors }, i) =>
        document === null
          ? `item ${i + 1}: ${errors.map(oneLine).join("; ")}`
          : `item ${i + 1}: ${oneLine(JSON.stringify(document))}`,
      );
      return [
        ...documents,
        "",
        `suggested field_map: ${JSON.stringify(preview.suggested_field_map)}`,
        `suggested schema: ${JSON.stringify(preview.suggested_schema)}`,
      ].join("\n");
    },
  );
}

/**
 * Runs a source and returns the exit code: 0 if the run completed, 1 if items failed, 2 if the run failed.
 */
async function syncNow(index: string, id: string, options: SyncOptions): Promise<number> {
  const client = connect(options);
  try {
    const path = sourcePath(index, id);
    const queued = (await client.json("POST", `${path}/sync-now`)) as { data: { run_id: number } };
    if (!options.wait) {
      print(options, queued, () => `Run ${queued.data.run_id} is queued.`);
      return EXIT_FINE;
    }
    const read = () => client.json("GET", `${path}/runs/${queued.data.run_id}`) as Promise<{ data: RunView }>;
    const answer = await followRun(read, process.stderr);
    print(options, answer, outcomeOf);
    if (answer.data.status !== "completed") return EXIT_FAILED;
    return answer.data.documents_failed > 0 ? EXIT_SOME_REJECTED : EXIT_FINE;
  } finally {
    client.close();
  }
}

async function listRuns(index: string, id: string, options: GlobalOptions): Promise<void> {
  await show(options, "GET", `${sourcePath(index, id)}/runs`, undefined, (runs: readonly RunView[]) => {
    if (runs.length === 0) return "The data source has not been read yet.";
    const rows = runs.map((run) => [
      String(run.id),
      run.not_modified ? "not modified" : run.status,
      minuteOf(run.started_at),
      grouped(run.documents_imported),
      grouped(run.documents_unchanged),
      grouped(run.documents_failed),
      grouped(run.documents_deleted),
      run.error ?? (run.errors[0] === undefined ? "" : `item ${run.errors[0].item}: ${run.errors[0].error}`),
    ]);
    return tableText(
      ["id", "status", "started (UTC)", "imported", "unchanged", "failed", "deleted", "error"],
      rows,
    );
  });
}

async function removeSource(index: string, id: string, options: GlobalOptions): Promise<void> {
  await show(options, "DELETE", sourcePath(index, id), undefined, () => `Data source ${id} is deleted.`);
}

function feedBody(url: string, options: FeedOptions): Record<string, unknown> {
  const { format, user, idField, itemsPath, delimiter, encoding } = options;
  const members = {
    id_field: idField,
    items_path: itemsPath,
    delimiter,
    encoding,
    basic_auth:
      user === undefined ? undefined : { username: user, password: process.env.SKEIN_FEED_PASSWORD ?? "" },
  };
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return { url, format, field_map: fieldMap(options.map), ...Object.fromEntries(given) };
}

function ratio(text: string): number {
  const part = text.trim() === "" ? Number.NaN : Number(text);
  if (part >= 0 && part <= 1) return part;
  throw new InvalidArgumentError("it must be a number from 0 to 1");
}

function fieldMap(entries: readonly string[]): Record<string, string> {
  const pairs = entries.map((entry) => {
    const at = entry.lastIndexOf("=");
    if (at <= 0) throw new CliError(`--map must be <from>=<to> such as Titel=title, not "${entry}"`);
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

function stateOf({ enabled, suspended, last_run }: SourceView): string {
  if (suspended) return "suspended: the credentials were refused";
  const last = last_run === null ? "never" : `${last_run.status} ${minuteOf(last_run.finished_at)}`.trim();
  return enabled ? last : `${last} (off)`;
}

/** Formats a time as `2026-05-01 10:30`. Returns "" for null. */
function minuteOf(time: string | null): string {
  return time === null ? "" : time.slice(0, 16).replace("T", " ");
}

function outcomeOf(run: RunView): string {
  const counts = [
    `${grouped(run.documents_imported)} imported`,
    `${grouped(run.documents_unchanged)} unchanged`,
    `${grouped(run.documents_failed)} failed`,
    `${grouped(run.documents_deleted)} deleted`,
  ].join(", ");
  const problems = run.errors.map(
    ({ item, id, error }) => `  item ${item}${id === null ? "" : ` (${id})`}: ${oneLine(error)}`,
  );
  const status = run.error === null ? run.status : `${run.status}: ${run.error} (${run.error_code})`;
  return [`${status}; ${run.not_modified ? "the feed has not changed" : counts}`, ...problems].join("\n");
}

function sourcesPath(index: string): string {
  return `/v1/indexes/${encodeURIComponent(index)}/data-sources`;
}

function sourcePath(index: string, id: string): string {
  return `${sourcesPath(index)}/${encodeURIComponent(id)}`;
}
