// Builds the question to a language model about a query, and validates the model's answer, which is called a
// claim. A claim must follow the schema, name only fields and values that exist in the index, and use only
// words and numbers from the query. Makes no network requests.
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import { defaultsTo, object, required } from "../../ground/input/object-reader.js";
import { list, oneOf, text, type ValueReader } from "../../ground/input/readers.js";
import type { Limits } from "../../ground/limits.js";
import type { ModelQuestion } from "../../models/chat-endpoint.js";
import type { IndexFacts } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import type { Language } from "./languages/language.js";
import { filled, labelOf, type Reading, type Rewritten, valueFilter } from "./reading.js";
import { tokensOf, valueKeys } from "./tokens.js";

const OPERATORS = ["=", "<", "<=", ">", ">="] as const;
const VALUES_TOLD = 30;
const FILTERS_MAX = 10;
const WORDS_MAX = 10;

/** An answer that follows the schema but has not been checked against the index. */
export interface Claim {
  readonly text: string;
  readonly filters: readonly {
    readonly field: string;
    readonly operator: (typeof OPERATORS)[number];
    readonly value: string;
  }[];
  readonly sort: { readonly field: string; readonly direction: "asc" | "desc" } | null;
  readonly avoided: readonly string[];
}

const WORD = text(200);
const CLAIM: ValueReader<Claim> = object(
  {
    text: required(text("queryTextBytesMax"), "The words to search for, all of them words of the query."),
    filters: required(
      list(
        object(
          { field: required(WORD), operator: required(oneOf(OPERATORS)), value: required(WORD) },
          { unknown: "refused" },
        ),
        FILTERS_MAX,
      ),
    ),
    sort: defaultsTo(
      null,
      object({ field: required(WORD), direction: required(oneOf(["asc", "desc"])) }, { unknown: "refused" }),
    ),
    avoided: required(list(WORD, WORDS_MAX), "Words of the query for what is not wanted."),
  },
  { unknown: "refused" },
);

const INSTRUCTIONS =
  "You read what a shopper typed into a shop's search box. Answer with the words to search for, and with the parts of the query that are " +
  "a filter, a sort order or something the shopper does not want. Use only the listed fields and values, and only words and numbers from " +
  "the query. Anything that is not clearly one of these stays in the text. If there is none, answer with the query as text and empty lists.";

export function questionOf(query: string, facts: IndexFacts): ModelQuestion {
  return {
    instructions: INSTRUCTIONS,
    input: { query, fields: facts.told(VALUES_TOLD) },
    schemaName: "query",
    schema: CLAIM.schema,
  };
}

/** Throws SkeinError if the answer does not follow the schema. */
export function readClaim(answer: unknown, limits: Limits): Claim {
  return CLAIM.read(answer, "", { limits, code: "SK-AI-503" });
}

/**
 * Returns the query as the model claims to understand it. Returns null if any part of the claim fails its
 * check, or if the model understood nothing.
 */
export function claimed(query: string, claim: Claim, facts: IndexFacts): Rewritten | null {
  const tokens = tokensOf(query);
  // A model must not reword anything that the client quoted or excluded.
  if (tokens.some(({ kind }) => kind === "sealed")) return null;
  const words = new Set(tokens.map(({ key }) => key));
  const numbers = new Set(tokens.flatMap(({ value }) => value ?? []));
  const kept = claim.text.trim() === "*" ? "" : claim.text.trim();
  const areTyped = (given: string): boolean =>
    tokensOf(given).every(({ kind, key }) => kind !== "sealed" && words.has(key));
  if (
    !areTyped(kept) ||
    !claim.avoided.every((word) => word.trim() !== "" && areTyped(word) && !word.includes('"'))
  )
    return null;
  const [language] = LANGUAGES;
  const readings: Reading[] = [];
  for (const filter of claim.filters) {
    const reading = filterReading(filter, facts, numbers, language);
    if (reading === null) return null;
    readings.push(reading);
  }
  for (const word of claim.avoided) {
    readings.push({
      ...WHOLE,
      kind: "without",
      avoided: [word],
      said: filled(language.sentences.avoided, { n: word }),
      language,
    });
  }
  if (claim.sort !== null) {
    const field = facts.field(claim.sort.field);
    if (field === null || !field.sort || field.array) return null;
    const descending = claim.sort.direction === "desc";
    readings.push({
      ...WHOLE,
      kind: "sort",
      sort: { field, descending },
      said: `${labelOf(field)} ${descending ? "↓" : "↑"}`,
      language,
    });
  }
  if (readings.length === 0) return null;
  const filters = [...new Set(readings.flatMap(({ filter }) => filter ?? []))];
  // A query that only excludes words would list the whole index.
  if (kept === "" && filters.length === 0) return null;
  return {
    text: kept || "*",
    filterBy: filters.length === 0 ? null : filters.join(" && "),
    sort: readings.find(({ sort }) => sort !== undefined)?.sort ?? null,
    avoided: claim.avoided,
    readings,
  };
}

/** A claim does not say which tokens it was read from. */
const WHOLE = { from: 0, to: 0, doubt: null } as const;

function filterReading(
  { field: name, operator, value }: Claim["filters"][number],
  facts: IndexFacts,
  numbers: ReadonlySet<number>,
  language: Language,
): Reading | null {
  const field = facts.field(name);
  if (field === null || field.kind === "bool") return null;
  if (field.kind !== "string") return numberReading(field, operator, Number(value), numbers, language);
  const known = facts.values(valueKeys(value)).find((one) => one.field === field);
  if (known === undefined || operator !== "=") return null;
  return {
    ...WHOLE,
    kind: "value",
    filter: valueFilter(field, known.spellings, known.subject === "colour"),
    said: filled(language.sentences.equals, { field: labelOf(field), n: known.spellings[0] as string }),
    language,
  };
}

function numberReading(
  field: ResolvedField,
  operator: (typeof OPERATORS)[number],
  value: number,
  numbers: ReadonlySet<number>,
  language: Language,
): Reading | null {
  if (!numbers.has(value) || (operator === "=" && field.kind === "int" && !Number.isInteger(value)))
    return null;
  const { sentences } = language;
  const template = {
    "=": sentences.equals,
    "<": sentences.below,
    "<=": sentences.upTo,
    ">": sentences.above,
    ">=": sentences.from,
  }[operator];
  return {
    ...WHOLE,
    kind: "range",
    filter: `${field.name}:${operator}${value}`,
    said: filled(template, { field: labelOf(field), n: value }),
    language,
  };
}
