// `skein analytics` shows frequent searches, searches without results, and trends. It also erases a person's
// data.
import { Command, Option } from "commander";
import type { SummaryReport } from "../../query-log/reports/summary.js";
import { type GlobalOptions, withGlobalOptions } from "../connection.js";
import { CliError } from "../failure.js";
import { show, tableText } from "../show.js";
import { grouped } from "../table.js";

interface ReportOptions extends GlobalOptions {
  readonly days?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly interval?: string;
}

interface TopText {
  readonly query: string;
  readonly count: number;
  readonly avg_results: number;
  readonly ctr: number;
}

interface ForgetOptions extends GlobalOptions {
  readonly user?: string;
  readonly session?: string;
}

const EXAMPLES = `
Examples:
  skein analytics top products
  skein analytics no-results products --days 30 --limit 100
  skein analytics summary products --from 2026-05-01 --to 2026-06-01
  skein analytics forget products --user u-1234`;

export function analyticsCommand(): Command {
  const analytics = new Command("analytics")
    .description("show what people search for and click")
    .addHelpText("after", EXAMPLES);
  const top = ranking(new Command("top").description("list the most frequent queries"));
  const noResults = ranking(
    new Command("no-results").description("list the most frequent queries without results"),
  );
  const summary = report(
    new Command("summary").description("show totals of searches, clicks and conversions"),
  ).addOption(new Option("--interval <interval>", "time covered by each row").choices(["hour", "day"]));
  const forget = new Command("forget")
    .description("remove a person from the log; the searches remain, anonymously")
    .argument("<index>")
    .option("--user <id>", "user id, as sent with queries and events")
    .option("--session <id>", "session id, as sent with queries and events");
  analytics.addCommand(withGlobalOptions(top).action(listTop));
  analytics.addCommand(withGlobalOptions(noResults).action(listNoResults));
  analytics.addCommand(withGlobalOptions(summary).action(showSummary));
  analytics.addCommand(withGlobalOptions(forget).action(forgetPerson));
  return analytics;
}

function report(command: Command): Command {
  return command
    .argument("<index>")
    .option("--days <n>", "the last <n> days (7)")
    .option("--from <time>", "start time, ISO 8601 in UTC")
    .option("--to <time>", "end time (now)");
}

function ranking(command: Command): Command {
  return report(command).option("--limit <n>", "maximum number of rows (20)");
}

async function listTop(index: string, options: ReportOptions): Promise<void> {
  await show(options, "GET", reportPath(index, "queries", options), undefined, (rows: readonly TopText[]) => {
    if (rows.length === 0) return "No searches in this period.";
    return tableText(
      ["searches", "clicked", "results", "query"],
      rows.map(({ query, count, avg_results, ctr }) => [
        grouped(count),
        shareText(ctr),
        grouped(avg_results),
        query,
      ]),
    );
  });
}

async function listNoResults(index: string, options: ReportOptions): Promise<void> {
  const path = reportPath(index, "no-results", options);
  await show(options, "GET", path, undefined, (rows: readonly Pick<TopText, "query" | "count">[]) => {
    if (rows.length === 0) return "Every search in this period found something.";
    return tableText(
      ["searches", "query"],
      rows.map(({ query, count }) => [grouped(count), query]),
    );
  });
}

async function showSummary(index: string, options: ReportOptions): Promise<void> {
  const path = reportPath(index, "summary", options);
  await show(options, "GET", path, undefined, (summary: SummaryReport) => {
    const facts = [
      ["searches", grouped(summary.searches)],
      ["without results", `${grouped(summary.no_results)} (${shareText(summary.no_result_rate)})`],
      ["with a click", shareText(summary.ctr)],
      ["clicks", grouped(summary.clicks)],
      ["with a conversion", shareText(summary.conversion_rate)],
      ["conversions", `${grouped(summary.conversions)}, worth ${summary.conversion_value}`],
      ["users", grouped(summary.users)],
      ["time", `half within ${summary.p50_ms} ms, 95 % within ${summary.p95_ms} ms`],
    ].map(([name, value]) => `${`${name}:`.padEnd(19)}${value}`);
    const series = summary.series.map(({ from, searches, no_results, clicks }) => [
      from.slice(0, 16).replace("T", " "),
      grouped(searches),
      grouped(no_results),
      grouped(clicks),
    ]);
    return [...facts, "", tableText(["from (UTC)", "searches", "no results", "clicks"], series)].join("\n");
  });
}

async function forgetPerson(index: string, options: ForgetOptions): Promise<void> {
  const { user, session } = options;
  if ((user === undefined) === (session === undefined)) throw new CliError("give either --user or --session");
  const query = new URLSearchParams(
    user === undefined ? { session_id: session as string } : { user_id: user },
  );
  const path = `${analyticsPath(index)}/people?${query}`;
  await show(
    options,
    "DELETE",
    path,
    undefined,
    ({ forgotten }: { forgotten: number }) => `${grouped(forgotten)} searches and events are anonymous now.`,
  );
}

function reportPath(index: string, name: string, { days, from, to, limit, interval }: ReportOptions): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries({ days, from, to, limit, interval }))
    if (value !== undefined) parameters.set(key, value);
  return `${analyticsPath(index)}/${name}?${parameters}`;
}

function analyticsPath(index: string): string {
  return `/v1/indexes/${encodeURIComponent(index)}/analytics`;
}

function shareText(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
