// What the dictionaries of all shards say about words, as one dictionary of the whole index would say it. It adds the
// answers up, ranks the typos, and does not ask again for what it remembers of a generation.
import type { CompanyProgram } from "../../../engine-wasm/host/programs/company-program.js";
import type { CompanyResult } from "../../../engine-wasm/host/programs/company-result.js";
import type { ExpandProgram, ExpandSuspect } from "../../../engine-wasm/host/programs/expand-program.js";
import type { ExpandResult } from "../../../engine-wasm/host/programs/expand-result.js";
import type { QueryTrace } from "../../ground/metrics/query-trace.js";
import type { CutsCache } from "./cuts-cache.js";
import type { ExpansionCache } from "./expansion-cache.js";
import { sumCompany } from "./sum-company.js";
import { sumExpansions } from "./sum-expansions.js";
import { type KnownWord, type KnownWords, rankTypos, type ToldWords } from "./typos/ranked-typos.js";

/** The shards' dictionaries as of one generation. */
export interface DictionaryShards {
  readonly generation: number;
  /** Remembered answers. When it is null, the shards are asked for everything. */
  readonly expansions: ExpansionCache | null;
  readonly trace: QueryTrace | undefined;
  /** One answer per shard. */
  expand(program: ExpandProgram): Promise<readonly ExpandResult[]>;
  /** One answer per shard. */
  company(program: CompanyProgram): Promise<readonly CompanyResult[]>;
}

export class Dictionaries {
  readonly #shards: DictionaryShards;
  readonly #typosMax: number;

  /** `typosMax` is how many typos are kept of each word. It must be the same number for all queries of an index. */
  constructor(shards: DictionaryShards, typosMax: number) {
    this.#shards = shards;
    this.#typosMax = typosMax;
  }

  /**
   * The answers to the program's words. `suspects` is called only when a shard has to be asked. What the shards say about
   * suspects is remembered, not returned.
   */
  async lookUp(program: ExpandProgram, suspects?: () => readonly ExpandSuspect[]): Promise<KnownWords> {
    const { generation, expansions, trace } = this.#shards;
    trace?.enter("expand");
    if (expansions === null) return this.#ask(program);
    const { statistics, words, missing } = expansions.get(generation, program, suspects);
    if (statistics !== null && missing.words.length === 0)
      return { ...statistics, words: words as readonly KnownWord[] };
    const answer = await this.#ask(missing);
    expansions.put(generation, missing, answer);
    const found = answer.words.values();
    return { ...answer, words: words.map((known) => known ?? (found.next().value as KnownWord)) };
  }

  /** What is remembered of cut words; null when nothing is. It is not before the first look-up of a generation. */
  get cuts(): CutsCache | null {
    const { generation, expansions } = this.#shards;
    return expansions?.cuts(generation) ?? null;
  }

  /** In how many documents words stand together. Such answers are not remembered. */
  async company(program: CompanyProgram): Promise<CompanyResult> {
    this.#shards.trace?.enter("expand");
    return sumCompany(await this.#shards.company(program));
  }

  async #ask(program: ExpandProgram): Promise<ToldWords> {
    return rankTypos(sumExpansions(await this.#shards.expand(program)), program, this.#typosMax);
  }
}
