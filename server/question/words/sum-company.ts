// Adds up all shards' co-occurrence counts, which gives the counts of a single shard with all documents.
import type { CandidateCompany, CompanyResult } from "../../../engine-wasm/host/programs/company-result.js";
import { addAll } from "./sum-expansions.js";

/** Adds up the results, which must be answers to the same program. There must be at least one. */
export function sumCompany(results: readonly CompanyResult[]): CompanyResult {
  const first = results[0] as CompanyResult;
  return {
    liveRows: results.reduce((sum, result) => sum + result.liveRows, 0),
    words: addAll(results.map(({ words }) => words)),
    candidates: first.candidates.map((_, i) =>
      sumCandidates(results.map(({ candidates }) => candidates[i] as CandidateCompany)),
    ),
  };
}

function sumCandidates(shards: readonly CandidateCompany[]): CandidateCompany {
  return {
    documents: shards.reduce((sum, { documents }) => sum + documents, 0),
    together: addAll(shards.map(({ together }) => together)),
  };
}
