// Reads golden searches and checks answers against them: each is a query with a shop owner's expectations.
// Knows the file format and how to match hits, but not the server.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Selects hits by id or by a pattern over the text of some fields. If both are given, a hit needs to match
 * only one.
 */
interface Wanted {
  /** Number of leading hits to check. */
  readonly of: number;
  readonly ids?: readonly string[];
  readonly fields?: readonly string[];
  /** A regular expression over the fields' folded text: lower case without accents. */
  readonly match?: string;
}

export interface GoldenSearch {
  readonly query: string;
  /** Additional members of the query's body. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The first hit has one of these ids. */
  readonly first?: readonly string[];
  /** There are at least `of` hits, and each of the first `of` is wanted. */
  readonly every?: Wanted;
  /** At least one of the first `of` hits is wanted. */
  readonly some?: Wanted;
  /** The page contains none of these hits. */
  readonly never?: Omit<Wanted, "of">;
  readonly found?: { readonly min?: number; readonly max?: number };
  /** Why a shop owner would expect this. */
  readonly why: string;
}

export interface Answer {
  readonly found: number;
  readonly hits: readonly { readonly document: Readonly<Record<string, unknown>> }[];
}

export function readGolden(catalogue: string): GoldenSearch[] {
  return readFileSync(join(import.meta.dirname, `${catalogue}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as GoldenSearch);
}

/** Returns the answer's faults, one clause each; empty if the answer meets the expectations. */
export function complaints(search: GoldenSearch, answer: Answer): string[] {
  const documents = answer.hits.map((hit) => hit.document);
  const { first, every, some, never, found } = search;
  const wrong: string[] = [];
  if (first !== undefined && !first.includes(String(documents[0]?.id)))
    wrong.push(`the first hit is not ${first.join(" or ")}`);
  if (every !== undefined) {
    const top = documents.slice(0, every.of);
    if (top.length < every.of) wrong.push(`there are only ${top.length} hits`);
    if (!top.every((document) => isWanted(document, every)))
      wrong.push(`not every one of the first ${every.of} is ${describe(every)}`);
  }
  if (some !== undefined && !documents.slice(0, some.of).some((document) => isWanted(document, some)))
    wrong.push(`none of the first ${some.of} is ${describe(some)}`);
  const unwanted = never && documents.find((document) => isWanted(document, never));
  if (unwanted !== undefined) wrong.push(`${unwanted.id} must not be there`);
  if (answer.found < (found?.min ?? 0) || answer.found > (found?.max ?? Number.POSITIVE_INFINITY))
    wrong.push(`${answer.found} are found`);
  return wrong;
}

export function foldText(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function isWanted(document: Readonly<Record<string, unknown>>, wanted: Omit<Wanted, "of">): boolean {
  if (wanted.ids?.includes(String(document.id))) return true;
  if (wanted.match === undefined) return false;
  const text = (wanted.fields ?? []).map((name) => foldText(String(document[name] ?? ""))).join(" ");
  return new RegExp(wanted.match, "isu").test(text.replace(/\s+/g, " "));
}

function describe({ ids, fields, match }: Omit<Wanted, "of">): string {
  const parts = [];
  if (ids !== undefined) parts.push(ids.join(" or "));
  if (match !== undefined) parts.push(`/${match}/ in ${fields?.join(", ")}`);
  return parts.join(" or ");
}
