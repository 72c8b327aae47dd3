// The format of a language's table: the words that shoppers use for ranges, sorts and negations, and the
// sentences that describe how a query was understood. Phrases are written naturally; compileLanguage folds
// them into token keys.
import type { Comparison } from "../../../question/filter/filter-parts.js";
import { keysOf } from "../tokens.js";

/** What a sort or range refers to if it does not name a field. */
export type Role = "price" | "rating" | "date" | "popularity";

/** One language in source form. `|` separates phrases. */
export interface LanguageTable {
  readonly code: string;
  /** Precedes a number: `under 50`. */
  readonly before: Readonly<Record<Comparison, string>>;
  /**
   * Precedes a number that has a currency or unit or belongs to a named field. Other numbers do not count: in
   * `iPhone Pro Max 256`, 256 is not a price.
   */
  readonly beforeUnit: Readonly<Record<Comparison, string>>;
  /** Follows a number that has a unit or belongs to a named field: `4 stars and up`. */
  readonly after: Readonly<Record<"<=" | ">=", string>>;
  /** Pairs such as `between ... and`. */
  readonly between: readonly (readonly [string, string])[];
  /**
   * Stands between two numbers: `20 to 40 euro`. At least one of them must have a unit, unless a field is
   * named.
   */
  readonly to: string;
  readonly about: string;
  readonly sorts: readonly (readonly [phrases: string, role: Role, descending: boolean])[];
  /** Follows superlatives that are not about the products of a shop: `the oldest city in the world`. */
  readonly ofAll: string;
  readonly without: string;
  /**
   * Negations that also have many other uses, and are therefore read only if no document contains all of the
   * query's words.
   */
  readonly not: string;
  /** What a document says if a product lacks the thing {n}: `{n} free`. */
  readonly lacking: string;
  /** Phrases that look like negations but are not: `sans fil` means wireless. */
  readonly setPhrases: string;
  /** Joins the negated words, or ends the negation. */
  readonly and: string;
  readonly fillers: string;
  readonly articles: string;
  /** Connectives that precede a reading and have no meaning without it: `with at least 4 stars`, `in red`. */
  readonly connectives: string;
  /** Introduces what a product goes with: `case for samsung` means a case. */
  readonly goesWith: string;
  /** Names of fields, by subject. A field whose name contains one of these words has that subject. */
  readonly names: Readonly<Record<Role | "brand" | "colour" | "category" | "size", string>>;
  /** Names of the colours, in the same order in every language. Spaces separate the forms of one colour. */
  readonly colours: string;
  /** True if the product comes first and its attributes follow: `chaussures rouges`. */
  readonly headFirst: boolean;
  readonly sentences: Sentences;
}

/** Sentence templates with placeholders such as {n}. */
export interface Sentences {
  readonly below: string;
  readonly upTo: string;
  readonly above: string;
  readonly from: string;
  readonly between: string;
  readonly equals: string;
  readonly avoided: string;
  readonly sorted: Readonly<Record<`${Role}:${"up" | "down"}`, string>>;
  readonly searched: string;
  readonly browsed: string;
}

export interface Phrase<T> {
  readonly keys: readonly string[];
  readonly means: T;
}

/** Phrases by their first key. Of several phrases with the same first key, the longest comes first. */
export type Phrases<T> = ReadonlyMap<string, readonly Phrase<T>[]>;

export interface BeforeNumber {
  readonly bound: Comparison;
  readonly needsUnit: boolean;
}

export interface Language {
  readonly code: string;
  readonly before: Phrases<BeforeNumber>;
  readonly after: Phrases<"<=" | ">=">;
  readonly between: Phrases<readonly (readonly string[])[]>;
  readonly to: Phrases<true>;
  readonly about: Phrases<true>;
  readonly sorts: Phrases<{ readonly role: Role; readonly descending: boolean }>;
  readonly ofAll: Phrases<true>;
  readonly without: Phrases<{ readonly weak: boolean }>;
  readonly lacking: readonly string[];
  readonly setPhrases: Phrases<true>;
  readonly and: Phrases<true>;
  readonly fillers: Phrases<true>;
  readonly articles: ReadonlySet<string>;
  readonly connectives: ReadonlySet<string>;
  readonly goesWith: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, Role | "brand" | "colour" | "category" | "size">;
  /** For each colour word, its colour's position in the table's `colours`. */
  readonly colours: ReadonlyMap<string, number>;
  readonly headFirst: boolean;
  readonly sentences: Sentences;
}

const SYMBOL_BOUNDS = [
  ["<", "<"],
  ["<=", "< ="],
  [">", ">"],
  [">=", "> ="],
] as const satisfies readonly (readonly [Comparison, string])[];

export function compileLanguage(table: LanguageTable): Language {
  const bounds = (given: Readonly<Record<string, string>>, needsUnit: boolean) =>
    Object.entries(given).map(([bound, text]) => [text, { bound: bound as Comparison, needsUnit }] as const);
  const symbols = SYMBOL_BOUNDS.map(([bound, text]) => [text, { bound, needsUnit: false }] as const);
  return {
    code: table.code,
    before: phrases([...bounds(table.before, false), ...bounds(table.beforeUnit, true), ...symbols]),
    after: phrases(Object.entries(table.after).map(([bound, text]) => [text, bound as "<=" | ">="])),
    between: joined(table.between),
    to: phrases([[table.to, true]]),
    about: phrases([[table.about, true]]),
    sorts: phrases(table.sorts.map(([text, role, descending]) => [text, { role, descending }])),
    ofAll: phrases([[table.ofAll, true]]),
    without: phrases([
      [table.without, { weak: false }],
      [table.not, { weak: true }],
    ]),
    lacking: table.lacking.split("|"),
    setPhrases: phrases([[table.setPhrases, true]]),
    and: phrases([[table.and, true]]),
    fillers: phrases([[table.fillers, true]]),
    articles: words(table.articles),
    connectives: words(table.connectives),
    goesWith: words(table.goesWith),
    names: new Map(
      Object.entries(table.names).flatMap(([role, text]) =>
        [...words(text)].map((word) => [word, role as keyof LanguageTable["names"]] as const),
      ),
    ),
    colours: new Map(
      table.colours
        .split("|")
        .flatMap((forms, i) => forms.split(" ").map((form) => [keysOf(form).join(" "), i])),
    ),
    headFirst: table.headFirst,
    sentences: table.sentences,
  };
}

/**
 * Returns the longest phrase that begins at a position. `keyAt` returns the key at a position, or undefined
 * past the last key.
 */
export function phraseAt<T>(
  table: Phrases<T>,
  at: number,
  keyAt: (place: number) => string | undefined,
): Phrase<T> | null {
  const first = keyAt(at);
  const candidates = first === undefined ? undefined : table.get(first);
  return candidates?.find(({ keys }) => keys.every((key, i) => keyAt(at + i) === key)) ?? null;
}

function joined(pairs: LanguageTable["between"]): Language["between"] {
  const table = new Map<string, (readonly string[])[]>();
  for (const [first, second] of pairs) {
    const key = keysOf(first).join(" ");
    table.set(key, [...(table.get(key) ?? []), keysOf(second)]);
  }
  return phrases([...table].map(([first, seconds]) => [first, seconds]));
}

function phrases<T>(entries: readonly (readonly [text: string, means: T])[]): Phrases<T> {
  const table = new Map<string, Phrase<T>[]>();
  for (const [text, means] of entries) {
    for (const one of text.split("|")) {
      const keys = keysOf(one);
      if (keys.length === 0) continue;
      const first = keys[0] as string;
      table.set(first, [...(table.get(first) ?? []), { keys, means }]);
    }
  }
  for (const list of table.values()) list.sort((a, b) => b.keys.length - a.keys.length);
  return table;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split("|").flatMap((word) => keysOf(word)));
}
