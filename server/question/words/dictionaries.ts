// Answers questions about words as if the whole index had one dictionary: adds up the shards' answers, ranks
// near terms, and caches answers for one generation.
import type { CompanyProgram } from "../../../engine-wasm/host/programs/company-program.js";
import type { CompanyResult } from "../../../engine-wasm/host/programs/company-result.js";
import type { ExpandProgram, ExpandSuspect } from "../../../engine-wasm/host/programs/expand-program.js";
import type { ExpandResult } from "../../../engine-wasm/host/programs/expand-result.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import type { QueryTrace } from "../../ground/metrics/query-trace.js";
import type { ExpansionCache } from "./expansion-cache.js";
import { sumCompany } from "./sum-company.js";
import { sumExpansions } from "./sum-expansions.js";
import { type KnownWord, type KnownWords, rankTypos, type ToldWords } from "./typos/ranked-typos.js";
import type { SearchedFields, WordMemory } from "./word-memory.js";

/** The shards' dictionaries at one generation. */
export interface DictionaryShards {
  readonly generation: number;
  /** The cache of answers, or null if every word must be looked up in the shards. */
  readonly expansions: ExpansionCache | null;
  readonly trace: QueryTrace | undefined;
  /** Returns one answer per shard. */
  expand(program: ExpandProgram): readonly ExpandResult[] | Promise<readonly ExpandResult[]>;
  /** Returns one answer per shard. */
  company(program: CompanyProgram): readonly CompanyResult[] | Promise<readonly CompanyResult[]>;
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
   * Returns the answers for the program's words. Calls `suspects` only if the shards must be asked
   * anyway. Their answers about suspects go into the cache and are not returned.
   */
  *lookUp(program: ExpandProgram, suspects?: () => readonly ExpandSuspect[]): Work<KnownWords> {
    const { generation, expansions, trace } = this.#shards;
    trace?.enter("expand");
    if (expansions === null) return yield* this.#ask(program);
    const { statistics, words, missing } = expansions.get(generation, program, suspects);
    if (statistics !== null && missing.words.length === 0)
      return { ...statistics, words: words as readonly KnownWord[] };
    const answer = yield* this.#ask(missing);
    expansions.put(generation, missing, answer);
    const found = answer.words.values();
    return { ...answer, words: words.map((known) => known ?? (found.next().value as KnownWord)) };
  }

  /** The remembered words for these fields; null if none are, for example before the first lookup. */
  memory(fields: SearchedFields): WordMemory | null {
    const { generation, expansions, trace } = this.#shards;
    trace?.enter("expand");
    return expansions?.memory(generation, fields) ?? null;
  }

  /** Like `memory`, but creates it if possible. `answer` is an answer about the fields. */
  memoryFor(fields: SearchedFields, answer: KnownWords): WordMemory | null {
    const { generation, expansions } = this.#shards;
    return expansions?.memoryFor(generation, fields, answer) ?? null;
  }

  /**
   * Returns the number of documents in which each candidate occurs, in total and together with each of
   * the program's words. Not cached.
   */
  *company(program: CompanyProgram): Work<CompanyResult> {
    this.#shards.trace?.enter("expand");
    return sumCompany(yield* settled(this.#shards.company(program)));
  }

  *#ask(program: ExpandProgram): Work<ToldWords> {
    return rankTypos(sumExpansions(yield* settled(this.#shards.expand(program))), program, this.#typosMax);
  }
}
