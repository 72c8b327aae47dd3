// Combines all shards' dictionary answers about words into the answer of one dictionary for the whole index:
// sums the answers, ranks the typos, and reuses answers cached for the generation.
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

/** The shards' dictionaries at one generation. */
export interface DictionaryShards {
  readonly generation: number;
  /** Cached answers. If null, every word is looked up in the shards. */
  readonly expansions: ExpansionCache | null;
  readonly trace: QueryTrace | undefined;
  /** Resolves with one answer per shard. */
  expand(program: ExpandProgram): Promise<readonly ExpandResult[]>;
  /** Resolves with one answer per shard. */
  company(program: CompanyProgram): Promise<readonly CompanyResult[]>;
}

export class Dictionaries {
  readonly #shards: DictionaryShards;
  readonly #typosMax: number;

  /** `typosMax` is the number of typos kept per word. It must be the same for all of an index's queries. */
  constructor(shards: DictionaryShards, typosMax: number) {
    this.#shards = shards;
    this.#typosMax = typosMax;
  }

  /**
   * Resolves with the answers for the program's words. `suspects` is called only if the shards must be asked.
   * Their answers about suspects are cached but not returned.
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

  /** The cache of split words. Null if nothing is cached, for example before a generation's first lookup. */
  get cuts(): CutsCache | null {
    const { generation, expansions } = this.#shards;
    return expansions?.cuts(generation) ?? null;
  }

  /** Resolves with the number of documents in which both words of each pair occur. Not cached. */
  async company(program: CompanyProgram): Promise<CompanyResult> {
    this.#shards.trace?.enter("expand");
    return sumCompany(await this.#shards.company(program));
  }

  async #ask(program: ExpandProgram): Promise<ToldWords> {
    return rankTypos(sumExpansions(await this.#shards.expand(program)), program, this.#typosMax);
  }
}
