// What is each signal of the ranking worth? The indexes are filled once. Then the server is started for the full ranking and
// for each signal left out, each time on a copy of that directory, and asked the same queries, as they are typed. On the
// directory itself the queries of the runs before would be popular searches, which correct typing errors.

import type { ApiClient } from "../../server/cli/api.js";
import type { Signal } from "../../server/search/matching/signals.js";
import { compareHalved, type HalvedComparison, type PairedSet } from "./comparison.js";
import { askAll, askedQueries } from "./judged-run.js";
import { type JudgedSet, readDocuments } from "./judged-sets.js";
import { RankedIndex } from "./ranked-index.js";
import type { Serve } from "./with-server.js";

/** The server's environment variable: a comma separated list of signals to leave out. */
export const WITHOUT_VARIABLE = "SKEIN_RANKING_WITHOUT";

export const ABLATION_VARIANTS = ["clean", "short", "natural", "substitution"] as const;

const ASKING = { mode: "keyword", depth: 100, ai: false } as const;

export interface AblationPlan {
  readonly data: string;
  readonly sets: readonly JudgedSet[];
  readonly signals: readonly Signal[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly seed: number;
}

export interface SignalResult {
  readonly signal: Signal;
  /** In the order of ABLATION_VARIANTS. Before: the full ranking. After: the ranking without the signal. */
  readonly variants: readonly HalvedComparison[];
}

/** A set's nDCG@10 of every query, in the order of ABLATION_VARIANTS. */
interface SetFigures {
  readonly set: string;
  readonly variants: readonly (readonly number[])[];
}

export async function runAblation(
  plan: AblationPlan,
  serve: Serve,
  serveCopy: Serve,
): Promise<SignalResult[]> {
  const measured = (signal: Signal | null): Promise<SetFigures[]> => {
    leaveOut(signal);
    return serveCopy((client) => measureSets(client, plan));
  };
  leaveOut(null);
  await serve((client) => fillSets(client, plan));
  const full = await measured(null);
  const results: SignalResult[] = [];
  for (const signal of plan.signals) {
    const without = await measured(signal);
    const paired = (variant: number): PairedSet[] =>
      full.map(({ set, variants }, i) => ({
        set,
        before: variants[variant]!,
        after: without[i]!.variants[variant]!,
      }));
    const variants = ABLATION_VARIANTS.map((_, variant) => compareHalved(paired(variant), plan.seed));
    results.push({ signal, variants });
  }
  return results;
}

/** Every server that is started from now on inherits the variable from this process. */
function leaveOut(signal: Signal | null): void {
  if (signal === null) delete process.env[WITHOUT_VARIABLE];
  else process.env[WITHOUT_VARIABLE] = signal;
}

async function fillSets(client: ApiClient, { data, sets, settings }: AblationPlan): Promise<void> {
  for (const set of sets)
    await RankedIndex.fill(client, set.name, set.fields, settings, readDocuments(data, set));
}

async function measureSets(client: ApiClient, { data, sets, seed }: AblationPlan): Promise<SetFigures[]> {
  const figures: SetFigures[] = [];
  for (const set of sets) {
    const index = await RankedIndex.open(client, set.name);
    const queries = askedQueries(data, set);
    const variants: number[][] = [];
    for (const variant of ABLATION_VARIANTS) {
      const measured = await askAll(index, queries, variant, seed, ASKING);
      variants.push(measured.map(({ ndcg10 }) => ndcg10));
    }
    figures.push({ set: set.name, variants });
  }
  return figures;
}
