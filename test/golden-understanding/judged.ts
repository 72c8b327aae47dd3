// The judged queries: reads the lists, and compares the server's interpretation of a query with a person's.
// Knows nothing of the server.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One line of a list. A query without expectations must be searched as typed. */
export interface Judged {
  readonly q: string;
  /** Conditions that must be found, in the syntax of filter_by. */
  readonly filters?: readonly string[];
  readonly sort?: string;
  readonly avoided?: readonly string[];
  /** The search text that must remain after the conditions are taken out. */
  readonly text?: string;
  /** Interpretations that are right but not required: conditions, `not:word`, `text:words`. */
  readonly may?: readonly string[];
}

export interface AiContext {
  readonly rewritten_query: string;
  readonly applied_filters: {
    readonly filter_by: string | null;
    readonly sort_by: string | null;
    readonly avoided: readonly string[];
  };
}

/**
 * Counts over several queries: right, wrong and missed interpretations, then remaining search texts compared
 * and those that were wrong.
 */
export interface Score {
  right: number;
  wrong: number;
  missed: number;
  texts: number;
  wrongTexts: number;
}

/** A third of each list is held out: nobody looks at those queries while writing the rules. */
export function isHeldOut(line: number): boolean {
  return line % 3 === 2;
}

export function readJudged(catalogue: string): Judged[] {
  return readFileSync(join(import.meta.dirname, `${catalogue}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Judged);
}

/**
 * Adds a query's right, wrong and missed interpretations to the score. Returns complaints for a person to
 * check.
 */
export function judge(judged: Judged, context: AiContext | null, score: Score): string[] {
  const wanted = new Set(
    [
      ...(judged.filters ?? []),
      ...(judged.sort === undefined ? [] : [`sort:${judged.sort}`]),
      ...(judged.avoided ?? []).map((word) => `not:${word}`),
    ].map(plain),
  );
  const allowed = new Set((judged.may ?? []).map(plain));
  const read = new Set(readingsOf(context).map(plain));
  const wrong = [...read].filter((reading) => !wanted.has(reading) && !allowed.has(reading));
  const missed = [...wanted].filter((reading) => !read.has(reading));
  const right = read.size - wrong.length;
  score.right += right;
  score.wrong += wrong.length;
  score.missed += missed.length;
  const complaints = [
    ...wrong.map((reading) => `read ${reading}`),
    ...missed.map((reading) => `did not read ${reading}`),
  ];
  const texts = [
    judged.text,
    ...[...allowed].filter((one) => one.startsWith("text:")).map((one) => one.slice(5)),
  ];
  if (context !== null && judged.text !== undefined && wrong.length === 0 && missed.length === 0) {
    score.texts++;
    const text = context.rewritten_query.toLowerCase();
    const others = [...allowed].filter((one) => /^\w+:/.test(one) && read.has(one)).length;
    if (others === 0 && !texts.includes(text)) {
      score.wrongTexts++;
      complaints.push(`kept "${text}"`);
    }
  }
  return complaints;
}

function readingsOf(context: AiContext | null): string[] {
  if (context === null) return [];
  const { filter_by, sort_by, avoided } = context.applied_filters;
  return [
    ...(filter_by === null ? [] : filter_by.split(" && ")),
    ...(sort_by === null ? [] : [`sort:${sort_by}`]),
    ...avoided.flatMap((words) => words.split(" ").map((word) => `not:${word}`)),
  ];
}

/**
 * Rewrites the different notations for a condition as one. A list of spellings becomes its first spelling.
 */
function plain(condition: string): string {
  return condition
    .toLowerCase()
    .replace(/[™®]/g, "")
    .replace(/:=?\[`([^`]*)`.*\]$/, ":$1")
    .replace(/:=?`([^`]*)`$/, ":$1")
    .replace(/:=(\d)/, ":$1");
}
