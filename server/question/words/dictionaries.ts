// Answers questions about words as if the whole index had one dictionary: adds up the shards' answers, ranks
// near terms, and caches answers for one generation.
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
  /** The cache of answers, or null if every word must be looked up in the shards. */
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

  /**
   * `typosMax` is the number of near terms kept per word. Because answers are cached, it must be the same for
   * all of an index's queries.
   */
  constructor(shards: DictionaryShards, typosMax: number) {
    this.#shards = shards;
    this.#typosMax = typosMax;
  }

  /**
   * Resolves with the answers for the program's words. Calls `suspects` only if the shards must be asked
   * anyway. Their answers about suspects go into the cache and are not returned.
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

  /**
   * The cache of split words. Null if there is none for this generation, for example before its first lookup.
   */
  get cuts(): CutsCache | null {
    const { generation, expansions } = this.#shards;
    return expansions?.cuts(generation) ?? null;
  }

  /**
   * Resolves with the number of documents in which each candidate occurs, in total and together with each of
   * the program's words. Not cached.
   */
  async company(program: CompanyProgram): Promise<CompanyResult> {
    this.#shards.trace?.enter("expand");
    return sumCompany(await this.#shards.company(program));
  }

  async #ask(program: ExpandProgram): Promise<ToldWords> {
    return rankTypos(sumExpansions(await this.#shards.expand(program)), program, this.#typosMax);
  }
}
