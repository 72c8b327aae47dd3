// Compares a run with the results that an earlier run wrote with --json, form by form (query-variants.ts) and
// query by query.

import { readFileSync } from "node:fs";
import { compareHalved, type Difference, type PairedSet, type TestedDifference } from "./comparison.js";
import type { JudgedResult } from "./judged-run.js";
import { type Conditions, figure, signed } from "./report.js";

export interface Written extends Conditions {
  readonly results: readonly JudgedResult[];
}

/**
 * Throws if the file lacks per-query nDCG@10 by form, or if its query variants were made with another seed.
 */
export function readWritten(path: string, seed: number): Written {
  const written = JSON.parse(readFileSync(path, "utf8")) as Written;
  if (!Array.isArray(written.results) || written.results[0]?.perQuery?.[0]?.ndcg10.clean === undefined)
    throw new Error(`${path} has no nDCG@10 per query and form; write it again with --json`);
  if (written.seed !== seed) throw new Error(`${path} was written with seed ${written.seed}, not ${seed}`);
  return written;
}

/** Returns one table per form that both runs used, over the sets that both runs measured. */
export function comparisonMarkdown(
  before: Written,
  after: readonly JudgedResult[],
  { machine, seed }: Conditions,
): string {
  const lines = [
    "",
    `## Comparison with commit ${before.machine.commit}`,
    "",
    `Before: \`${before.machine.command}\`, commit ${before.machine.commit}. After: commit ${machine.commit}.`,
    "nDCG@10. p: two-sided paired randomisation test, 10,000 rounds. The odd and the even half are every second query",
    "of each set, from the first and from the second on.",
    "",
  ];
  for (const form of Object.keys(after[0]?.ndcg10 ?? {})) {
    const sets = pairedSets(before.results, after, form);
    if (sets.length > 0) lines.push(...formTable(form, sets, seed));
  }
  return `${lines.join("\n")}\n`;
}

/** Pairs one form's figures query by query. Throws if a set had different queries in the earlier run. */
export function pairedSets(
  before: readonly JudgedResult[],
  after: readonly JudgedResult[],
  form: string,
): PairedSet[] {
  return after.flatMap(({ set, perQuery }) => {
    const earlier = before.find((result) => result.set === set);
    if (earlier === undefined || earlier.ndcg10[form] === undefined) return [];
    const ids = (queries: JudgedResult["perQuery"]) => queries.map(({ id }) => id).join();
    if (ids(earlier.perQuery) !== ids(perQuery))
      throw new Error(`${set}: the earlier run had different queries`);
    const figures = (queries: JudgedResult["perQuery"]) => queries.map(({ ndcg10 }) => ndcg10[form]!);
    return [{ set, before: figures(earlier.perQuery), after: figures(perQuery) }];
  });
}

function formTable(form: string, sets: readonly PairedSet[], seed: number): string[] {
  const { whole, odd, even } = compareHalved(sets, seed);
  const means = ({ before, after, difference }: Difference) =>
    `${figure(before)} | ${figure(after)} | ${signed(difference)}`;
  const test = ({ difference, p }: TestedDifference) => `${signed(difference)} | ${figure(p)}`;
  const worst = ({ set, difference }: { set: string; difference: number }) =>
    `${set} (${signed(difference)})`;
  return [
    `### ${form}`,
    "",
    "| set | queries | before | after | difference | p | odd half | p | even half | p |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...whole.sets.map(
      (one, i) =>
        `| ${one.set} | ${one.queries} | ${means(one)} | ${figure(one.p)} | ${test(odd.sets[i]!)} | ${test(even.sets[i]!)} |`,
    ),
    `| all queries | ${whole.allQueries.queries} | ${means(whole.allQueries)} | ${figure(whole.allQueries.p)} | ${test(odd.allQueries)} | ${test(even.allQueries)} |`,
    `| mean of the sets | | ${means(whole.meanOfSets)} | | ${signed(odd.meanOfSets.difference)} | | ${signed(even.meanOfSets.difference)} | |`,
    `| worst set | | | | ${worst(whole.worst)} | | ${worst(odd.worst)} | | ${worst(even.worst)} | |`,
    "",
  ];
}
