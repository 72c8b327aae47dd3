// Decodes the engine's answer to a company program, which contains counts of co-occurring words. Decoding
// needs the program, because the result contains only counts, in the program's order.
import { ByteReader } from "../bytes.js";
import type { CompanyProgram } from "./company-program.js";

/** How many live documents contain a candidate, and how many contain it together with each word. */
export interface CandidateCompany {
  readonly documents: number;
  /** Number of documents that contain both the candidate and a word, in the order of the program's words. */
  readonly together: readonly number[];
}

export interface CompanyResult {
  readonly liveRows: number;
  /** Number of live documents that contain each word, in the order of the program's words. */
  readonly words: readonly number[];
  /** In the order of the program's candidates. */
  readonly candidates: readonly CandidateCompany[];
}

/** Throws a RangeError if the bytes are not an answer to `program`. */
export function decodeCompanyResult(bytes: Uint8Array, program: CompanyProgram): CompanyResult {
  const reader = new ByteReader(bytes);
  const liveRows = reader.f64();
  const words = program.words.map(() => reader.u32());
  const candidates = program.candidates.map(() => ({
    documents: reader.u32(),
    together: program.words.map(() => reader.u32()),
  }));
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after the company result`);
  return { liveRows, words, candidates };
}
