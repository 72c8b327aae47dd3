// `skein coach` runs the coach on the log, shows its recommendations, and applies or dismisses one.
import { Command, Option } from "commander";
import { RECOMMENDATION_STATUSES, type Recommendation } from "../../catalog/records/recommendation.js";
import { type GlobalOptions, withGlobalOptions } from "../connection.js";
import { show, tableText } from "../show.js";
import { grouped, oneLine } from "../table.js";

interface AnalyzeOptions extends GlobalOptions {
  readonly days?: string;
}

interface ListOptions extends GlobalOptions {
  readonly status: string;
  readonly long?: boolean;
}

type Shown = Omit<Recommendation, "index" | "created">;

interface DecisionView {
  readonly recommendation: Shown;
  readonly created: { readonly kind: string; readonly id: number } | null;
}

const EXAMPLES = `
Examples:
  skein coach analyze products
  skein coach list products --long
  skein coach apply 12
  skein coach dismiss 13`;

export function coachCommand(): Command {
  const coach = new Command("coach")
    .description("get recommendations from what people search for")
    .addHelpText("after", EXAMPLES);
  const analyze = new Command("analyze")
    .description("analyze the query log and list recommendations")
    .argument("<index>")
    .option("--days <n>", "the last <n> days (30)");
  const list = new Command("list")
    .description("list stored recommendations")
    .argument("<index>")
    .addOption(
      new Option("--status <status>", "recommendations with this status")
        .choices([...RECOMMENDATION_STATUSES])
        .default("pending"),
    )
    .option("--long", "include descriptions");
  const apply = new Command("apply")
    .description("create the synonym or rule that a recommendation proposes")
    .argument("<id>");
  const dismiss = new Command("dismiss").description("dismiss a recommendation for 30 days").argument("<id>");
  coach.addCommand(withGlobalOptions(analyze).action(analyzeLog));
  coach.addCommand(withGlobalOptions(list).action(listRecommendations));
  coach.addCommand(withGlobalOptions(apply).action(applyOne));
  coach.addCommand(withGlobalOptions(dismiss).action(dismissOne));
  return coach;
}

async function analyzeLog(index: string, { days, ...options }: AnalyzeOptions): Promise<void> {
  const body = days === undefined ? {} : { days: Number(days) };
  const path = `${coachPath(index)}/analyze`;
  interface AnalyzedView {
    readonly events_analyzed: number;
    readonly recommendations: readonly Shown[];
  }
  await show(options, "POST", path, body, ({ events_analyzed, recommendations }: AnalyzedView) => {
    const rows = `${grouped(events_analyzed)} searches and events were analyzed`;
    if (recommendations.length === 0) return `${rows}; there is nothing to recommend.`;
    return `${rows}.\n\n${listText(recommendations, false)}`;
  });
}

async function listRecommendations(index: string, options: ListOptions): Promise<void> {
  const path = `${coachPath(index)}/recommendations?status=${options.status}`;
  await show(options, "GET", path, undefined, (recommendations: readonly Shown[]) =>
    recommendations.length === 0
      ? `There are no ${options.status} recommendations.`
      : listText(recommendations, options.long === true),
  );
}

async function applyOne(id: string, options: GlobalOptions): Promise<void> {
  await decide(id, "apply", options, ({ recommendation, created }) => {
    const made = created === null ? "nothing had to be created" : `${created.kind} ${created.id} is in force`;
    return `"${oneLine(recommendation.title)}" is applied: ${made}.`;
  });
}

async function dismissOne(id: string, options: GlobalOptions): Promise<void> {
  await decide(
    id,
    "dismiss",
    options,
    ({ recommendation }) => `"${oneLine(recommendation.title)}" is dismissed.`,
  );
}

async function decide(
  id: string,
  action: "apply" | "dismiss",
  options: GlobalOptions,
  text: (decided: DecisionView) => string,
): Promise<void> {
  await show(options, "POST", `/v1/coach/recommendations/${encodeURIComponent(id)}/${action}`, {}, text);
}

function listText(recommendations: readonly Shown[], long: boolean): string {
  if (long)
    return recommendations
      .map(
        ({ id, type, confidence, search_count, title, description }) =>
          `${id}  ${oneLine(title)}\n   ${type}, ${confidence} confidence, ${grouped(search_count)} searches\n   ${oneLine(description)}`,
      )
      .join("\n\n");
  return tableText(
    ["id", "type", "confidence", "searches", "recommendation"],
    recommendations.map(({ id, type, confidence, search_count, title }) => [
      String(id),
      type,
      confidence,
      grouped(search_count),
      title,
    ]),
  );
}

function coachPath(index: string): string {
  return `/v1/indexes/${encodeURIComponent(index)}/coach`;
}
