// The record of a synonym group, its storage, the reader for create and PATCH bodies, and the clients' view.
// Queries are expanded elsewhere.
import { describe, isObject } from "../../ground/input/json-value.js";
import { defaultsTo, object, required } from "../../ground/input/object-reader.js";
import { flag, list, oneOf, refuse, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { StoredKind } from "./kind.js";

export const SYNONYM_TYPES = ["multi_way", "one_way"] as const;
type SynonymType = (typeof SYNONYM_TYPES)[number];

export interface SynonymGroup {
  readonly id: number;
  /** The index's uid. */
  readonly index: number;
  readonly type: SynonymType;
  /** Words or phrases, including the root. */
  readonly synonyms: readonly string[];
  /**
   * In a one_way group, a search for the root also finds the other entries, but not vice versa. Null in a
   * multi_way group.
   */
  readonly root: string | null;
  readonly enabled: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
}

export const SYNONYM_KIND = {
  name: "synonym",
  counter: "nextSynonymId",
  of: "index",
  vital: false,
  copiedAs: "synonyms",
  goesWith: "data",
} as const satisfies StoredKind;

export const SYNONYMS = object(
  {
    type: defaultsTo("multi_way", oneOf(SYNONYM_TYPES)),
    synonyms: required(
      list(
        text(FIXED_LIMITS.synonymBytesMax),
        FIXED_LIMITS.synonymsPerGroupMax,
        "an array of words and phrases",
      ),
    ),
    root: defaultsTo(null, text(FIXED_LIMITS.synonymBytesMax), "Only for one_way; default: the first entry."),
    enabled: defaultsTo(true, flag()),
  },
  { unknown: "refused" },
);

/** The group's members that clients may set. */
export type SynonymDraft = Pick<SynonymGroup, "type" | "synonyms" | "root" | "enabled">;

/**
 * Reads a create body, or a PATCH body if `current` is given; null restores a default. `hasWord` returns
 * whether the index's analyser finds a word in a text. It is not called for entries already in `current`.
 * Throws SK-SY-400.
 */
export function readSynonyms(
  body: unknown,
  current: SynonymDraft | null,
  limits: Limits,
  hasWord: (text: string) => boolean,
): SynonymDraft {
  const rules = { limits, code: "SK-SY-400" } as const;
  const { type, enabled, ...given } = SYNONYMS.read(body, "", rules, current ?? undefined);
  /** The entries, trimmed and without duplicates. */
  const entries = [...new Set(given.synonyms.map((entry) => entry.trim()))];
  const wanted = given.root?.trim() ?? null;
  const rootGiven = isObject(body) && (body.root ?? null) !== null;
  if (type === "multi_way" && rootGiven)
    refuse("root", "must be absent: only a one_way group has a root", rules);
  const root = type === "multi_way" ? null : rootOf(entries, wanted, rootGiven);
  const synonyms = root === null || entries.includes(root) ? entries : [root, ...entries];
  for (const entry of synonyms) {
    if (current?.synonyms.includes(entry) || hasWord(entry)) continue;
    const where = entries.includes(entry) ? `synonyms[${entries.indexOf(entry)}]` : "root";
    refuse(where, `must contain a word; ${describe(entry)} has none`, rules);
  }
  const { synonymsPerGroupMin } = FIXED_LIMITS;
  if (synonyms.length < synonymsPerGroupMin)
    refuse("synonyms", `must have at least ${synonymsPerGroupMin} different entries`, rules);
  if (synonyms.length > FIXED_LIMITS.synonymsPerGroupMax)
    refuse("synonyms", `has more than ${FIXED_LIMITS.synonymsPerGroupMax} entries with its root`, rules);
  return { type, synonyms, root, enabled };
}

/** The view for clients, without the index's uid. */
export function synonymsView({ index: _index, ...shown }: SynonymGroup): Omit<SynonymGroup, "index"> {
  return shown;
}

/**
 * A one_way group's root: the given root, else the current root if it is still an entry, else the first
 * entry.
 */
function rootOf(entries: readonly string[], wanted: string | null, given: boolean): string | null {
  return wanted !== null && (given || entries.includes(wanted)) ? wanted : (entries[0] ?? null);
}
