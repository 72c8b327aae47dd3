// Understands queries over an index: gathers the index's facts, tries readings, and falls back to the query
// as typed. Most queries contain no word that could be read in this way; they run once, as typed.
import { NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { SkeinError } from "../../ground/errors.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { compileFilter } from "../../question/filter/filter-compile.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import { type AskedQuery, type Attempt, type Meant, meantAsTyped, type Understanding } from "../attempt.js";
import { askFacets, facetText } from "../matching/facets.js";
import { countFull, countSaying, matches, relaxed } from "../matching/match.js";
import { planQuery } from "../matching/plan.js";
import { claimed } from "./endpoint-answer.js";
import { EndpointReader, type EndpointReaderOptions } from "./endpoint-reader.js";
import { type CountValues, FactsMemory, type KnownFacts } from "./facts-memory.js";
import { mayHaveFillers, mayHaveValues, mayName } from "./glance.js";
import { type Asking, isPoor, Meaning } from "./meaning.js";
import { tokensOf } from "./tokens.js";

export class QueryUnderstanding implements Understanding {
  readonly #memory: FactsMemory;
  readonly #endpoints: EndpointReader;
  readonly #limits: Limits;

  constructor(options: EndpointReaderOptions) {
    this.#limits = options.limits;
    this.#memory = new FactsMemory(options.limits);
    this.#endpoints = new EndpointReader(options);
  }

  /** Fails all pending requests to models. */
  close(): void {
    this.#endpoints.close();
  }

  meant(query: AskedQuery): Work<Meant> {
    const { asked, index } = query;
    if (!asked.shape.ai || asked.browse) return meantAsTyped(query);
    const { provider } = index.record.settings.ai;
    return provider === "rules" ? this.#byRules(query) : this.#byEndpoint(query);
  }

  *#byRules(query: AskedQuery): Work<Meant> {
    const { asked, index } = query;
    let meaning: Meaning<Attempt> | null = null;
    let known: KnownFacts | null = null;
    const tokens = tokensOf(asked.q);
    if (mayName(tokens, this.#memory.names(index.record, index.schema))) {
      known = yield* this.#facts(query);
      meaning = this.#meaning(query);
      const named = yield* orNothing(meaning.named(asked, known.facts));
      if (named !== null) return { ...named, lasting: known.current };
    }
    const attempted = query.attempt(asked);
    const attempt = attempted instanceof Promise ? yield* settled(attempted) : attempted;
    const { fullMatches } = attempt.matched;
    const hasFillers = mayHaveFillers(tokens);
    // A value is guessed only if no document contains all words.
    if (isPoor(fullMatches) && (hasFillers || fullMatches === 0)) {
      known ??= yield* this.#facts(query);
      if (hasFillers || mayHaveValues(tokens, known.facts)) {
        meaning ??= this.#meaning(query);
        const guessed = yield* orNothing(meaning.guessed(asked, known.facts, attempt));
        if (guessed !== null) return { ...guessed, lasting: known.current };
      }
    }
    return { attempt, context: null, lasting: known?.current ?? true };
  }

  /**
   * Asks the model, unless the query has too few or too many words. A query of one or two words simply names
   * the product.
   */
  *#byEndpoint(query: AskedQuery): Work<Meant> {
    const { asked, index } = query;
    const tokens = tokensOf(asked.q);
    if (tokens.length < ENDPOINT_WORDS_MIN || tokens.length > FIXED_LIMITS.understandingTokensMax)
      return yield* meantAsTyped(query);
    const { facts, current } = yield* this.#facts(query);
    const claim = yield* this.#endpoints.read(asked.q, index, asked.shape.within?.text ?? "", facts);
    const meant = claim === null ? null : claimed(asked.q, claim, facts);
    const tried = meant === null ? null : yield* orNothing(this.#meaning(query).claimed(asked, meant));
    if (tried !== null) return { ...tried, lasting: current };
    // Without a claim, the answer must not be cached, because the model may respond next time.
    return { ...(yield* meantAsTyped(query)), lasting: current && claim !== null };
  }

  #meaning(query: AskedQuery): Meaning<Attempt> {
    const { asked, index, scale, snapshot } = query;
    // The requests that are counted differ from `asked` in other members and in their sort.
    const shape = { ...asked.shape, sort: null, facets: [] };
    const planned = (request: QueryRequest) =>
      planQuery({ ...request, ...NO_ROWS, avoided: [], shape }, index, scale);
    const asking: Asking<Attempt> = {
      attempt: (request) => settled(query.attempt(request)),
      *count(request, phrases) {
        if (phrases === undefined) return yield* countFull(planned(request), snapshot);
        const terms = phrases
          .map((phrase) => index.analyser.terms(phrase))
          .filter(({ length }) => length > 0);
        return yield* countSaying(planned(request), terms, snapshot);
      },
      filter: (filterBy) => compileFilter(filterBy, index, this.#limits),
      *found({ matched }) {
        return matches(yield* settled(relaxed(matched)));
      },
      full: ({ matched }) => matched.fullMatches,
    };
    return new Meaning(asking, this.#limits);
  }

  #facts(query: AskedQuery): Work<KnownFacts> {
    const { asked, index, scale, snapshot } = query;
    const count: CountValues<IndexSnapshot> = function* (counted, facets, maxFacetValues) {
      const all = { q: "*", typed: "*", browse: true, filter: asked.shape.within?.filter ?? NO_FILTER };
      const shape = { ...asked.shape, sort: null, facets, maxFacetValues };
      const request = { ...asked, ...NO_ROWS, ...all, shape };
      const { program } = planQuery(request, index, scale);
      const counts = yield* askFacets(counted, program);
      return facets.map((field, i) => ({
        field,
        values: Array.from({ length: counts[i]!.length }, (_, at) => ({
          value: facetText(counts[i]!.valueAt(at), field),
          count: counts[i]!.countAt(at),
        })),
      }));
    };
    const { record, schema } = index;
    const within = asked.shape.within?.text ?? "";
    const behind = async (work: (later: IndexSnapshot) => Promise<void>): Promise<void> => {
      const later = await query.snapshotBehind();
      try {
        await work(later);
      } finally {
        later.release();
      }
    };
    return this.#memory.of({ record, schema, within, documents: scale.documents, snapshot, count, behind });
  }
}

const ENDPOINT_WORDS_MIN = 3;
const NO_ROWS = { perPage: 0, page: 1 } as const;

/**
 * Returns null if `work` fails with a 400 error: a reading combined with the query's own filter may exceed a
 * limit of the index.
 */
function* orNothing<T>(work: Work<T>): Work<T | null> {
  try {
    return yield* work;
  } catch (error) {
    if (error instanceof SkeinError && error.status === 400) return null;
    throw error;
  }
}
