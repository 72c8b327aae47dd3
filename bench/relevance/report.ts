// Writes ranking results as Markdown for people and as JSON for programs.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type MachineCard, machineText } from "../machine.js";
import { type JudgedResult, WITHOUT_UNDERSTANDING } from "./judged-run.js";
import { JUDGED_SETS, targetOf } from "./judged-sets.js";
import { type Measures, mean } from "./measures.js";
import type { MisspellingResult, MisspellingShare } from "./misspelling-run.js";
import { ERROR_KINDS } from "./typing-error.js";

/** A measurement's conditions: machine, index settings and the seed for the typing errors. */
export interface Conditions {
  readonly machine: MachineCard;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly seed: number;
}

export function judgedMarkdown(conditions: Conditions, results: readonly JudgedResult[]): string {
  const lines = [
    ...opening("Ranking against judged queries", conditions),
    "nDCG@10 / MAP / Recall@100 over queries with a relevant document; MAP over 1000 rows. BM25: the two plain",
    "baselines of the data's README; target: the better of the two, measure by measure.",
    "",
    "| set | queries | skein | BM25 k1=0.9 b=0.4 | BM25 k1=1.2 b=0.75 | target | reached |",
    "| --- | --- | --- | --- | --- | --- | --- |",
  ];
  for (const { set, queries, clean } of results) {
    const baseline = JUDGED_SETS.find(({ name }) => name === set)!;
    const [a, b] = baseline.baselines;
    const target = targetOf(baseline);
    const own = [clean.ndcg10, clean.averagePrecision, clean.recall100] as const;
    const reached = own.map((figure, i) => (round(figure) >= target[i]! ? "yes" : "no")).join(" / ");
    lines.push(
      `| ${set} | ${queries} | ${three(own)} | ${three(a)} | ${three(b)} | ${three(target)} | ${reached} |`,
    );
  }
  lines.push(`| mean nDCG@10 | | ${figure(mean(results.map((r) => r.clean.ndcg10)))} | | | | |`, "");
  for (const { set, clean } of results) {
    if (set === "icecat")
      lines.push(`icecat, judged documents only: nDCG@10 ${figure(clean.ndcg10Judged)}.`, "");
  }
  lines.push(...variantLines(results), ...mistypedLines(results));
  return `${lines.join("\n")}\n`;
}

function variantLines(results: readonly JudgedResult[]): string[] {
  const forms = ["clean", WITHOUT_UNDERSTANDING, "short", "natural"].filter(
    (form) => results[0]?.ndcg10[form] !== undefined,
  );
  return [
    "nDCG@10 of the same queries in other forms. Short: half of the words that are no stop words. Natural: in a sentence",
    'as a person would ask it. Without understanding: with `"ai": false`.',
    "",
    `| queries | ${results.map(({ set }) => set).join(" | ")} | mean |`,
    `| --- |${" --- |".repeat(results.length + 1)}`,
    ...forms.map((form) => {
      const figures = results.map(({ ndcg10 }) => ndcg10[form]!);
      return `| ${form} | ${[...figures, mean(figures)].map(figure).join(" | ")} |`;
    }),
    "",
  ];
}

function mistypedLines(results: readonly JudgedResult[]): string[] {
  const lines = [
    "With one typing error in one long word of every query; the mean of the four kinds, and its ratio to the clean",
    "figure: over all queries, and over those in which the word with the error has four letters or more (how many).",
    "Shorter words may have no typo by the settings of the index.",
    "",
    `| set | nDCG@10 / MAP / Recall@100 | ratio of nDCG@10 | four letters or more | ${ERROR_KINDS.join(" | ")} |`,
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
  for (const { set, clean, mistyped, ndcg10, forgivable } of results) {
    const own = [mistyped.ndcg10, mistyped.averagePrecision, mistyped.recall100];
    const ratios = [
      ratio(mistyped.ndcg10, clean.ndcg10),
      `${ratio(forgivable.mistyped, forgivable.clean)} (${forgivable.queries})`,
      ...ERROR_KINDS.map((kind) => ratio(ndcg10[kind]!, clean.ndcg10)),
    ];
    lines.push(`| ${set} | ${three(own)} | ${ratios.join(" | ")} |`);
  }
  const all = mean(results.map(({ mistyped, clean }) => mistyped.ndcg10 / clean.ndcg10));
  const long = mean(results.map(({ forgivable }) => forgivable.mistyped / forgivable.clean));
  lines.push(`| mean | | ${all.toFixed(3)} | ${long.toFixed(3)} | | | | |`);
  return lines;
}

/** Compares the other modes with the first one. Returns an empty string if there is only one mode. */
export function modesMarkdown(results: readonly JudgedResult[]): string {
  const [first] = results;
  if (first === undefined || first.modes.length === 0) return "";
  const names = [first.mode, ...first.modes.map(({ mode }) => mode)];
  const all = results.map((result) => [result, ...result.modes]);
  const clean = (of: (measures: Measures) => number): number[][] =>
    names.map((_, i) => all.map((modes) => of(modes[i]!.clean)));
  const row = (name: string, figures: readonly number[], base: readonly number[]): string => {
    const cells = figures.map((one, i) => `${figure(one)} (${signed(one - base[i]!)})`);
    const difference = mean(figures) - mean(base);
    return `| ${name} | ${cells.join(" | ")} | ${figure(mean(figures))} (${signed(difference)}) |`;
  };
  const table = (title: string, of: (measures: Measures) => number): string[] => {
    const figures = clean(of);
    return [
      `${title}, and the difference to ${names[0]}:`,
      "",
      `| mode | ${results.map(({ set }) => set).join(" | ")} | mean |`,
      `| --- |${" --- |".repeat(results.length + 1)}`,
      ...names.map((name, i) => row(name, figures[i]!, figures[0]!)),
      "",
    ];
  };
  const mistyped = names.map((name, i) => {
    const ratios = all.map((modes) => modes[i]!.mistyped.ndcg10 / modes[i]!.clean.ndcg10);
    return `| ${name} | ${ratios.map((one) => one.toFixed(3)).join(" | ")} | ${mean(ratios).toFixed(3)} |`;
  });
  const lines = [
    "",
    "## Modes",
    "",
    ...table("nDCG@10", ({ ndcg10 }) => ndcg10),
    ...table("Recall@100", ({ recall100 }) => recall100),
    "nDCG@10 with one typing error, as a part of the clean figure:",
    "",
    `| mode | ${results.map(({ set }) => set).join(" | ")} | mean |`,
    `| --- |${" --- |".repeat(results.length + 1)}`,
    ...mistyped,
  ];
  return `${lines.join("\n")}\n`;
}

export function misspellingMarkdown(conditions: Conditions, result: MisspellingResult): string {
  const lines = [
    ...opening("Misspelt words", conditions),
    `An index of ${result.documents} single words. A misspelling within two edits of its right word is asked for; the right`,
    "word's document should come first. Misspellings that are themselves indexed words stand apart.",
    "",
    "| file | pairs | asked | first | in the first 3 | also words: first, in the first 3 | beyond 2 edits | case only |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
  for (const file of result.files) {
    const { pairs, asked, alsoWords, beyond, equal } = file;
    const also = `${alsoWords.asked}: ${percent(alsoWords, "first")}, ${percent(alsoWords, "firstFew")}`;
    lines.push(
      `| ${file.file} | ${pairs} | ${asked} | ${percent(file, "first")} | ${percent(file, "firstFew")} | ${also} | ${beyond} | ${equal} |`,
    );
  }
  lines.push("", "Why the right word was not first, all files:", "");
  for (const { kind, count, examples } of result.failures) {
    lines.push(`- ${count}: ${kind}`, ...examples.map((example) => `  - ${example}`));
  }
  return `${lines.join("\n")}\n`;
}

/** Writes `<folder>/<name>.md` and `.json`. */
export function writeReport(
  folder: string,
  name: string,
  conditions: Conditions,
  results: unknown,
  markdown: string,
): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.md`), markdown);
  writeJson(join(folder, `${name}.json`), conditions, results);
}

export function writeJson(path: string, conditions: Conditions, results: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ...conditions, results }, null, 2)}\n`);
}

function opening(title: string, { machine, settings, seed }: Conditions): string[] {
  return [
    `# ${title}`,
    "",
    machineText(machine),
    `\`${machine.command}\``,
    "",
    `Settings of every index, beside the defaults: \`${JSON.stringify(settings)}\`. Seed ${seed}.`,
    "",
  ];
}

function three(figures: readonly number[]): string {
  return figures.map(figure).join(" / ");
}

/** Formats a difference with its sign. */
export function signed(difference: number): string {
  return `${difference < 0 ? "-" : "+"}${Math.abs(difference).toFixed(4)}`;
}

export function figure(n: number): string {
  return n.toFixed(4);
}

function round(n: number): number {
  return Number(n.toFixed(4));
}

function ratio(part: number, whole: number): string {
  return (part / whole).toFixed(3);
}

function percent(share: MisspellingShare, which: "first" | "firstFew"): string {
  return share.asked === 0 ? "-" : `${((100 * share[which]) / share.asked).toFixed(1)} %`;
}
