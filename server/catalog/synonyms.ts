// Synonym groups: reads a create or a PATCH body and checks the whole result, makes what clients see. Knows
// nothing of how a query is expanded.
import { describe, Members } from "../input.js";
import type { Limits } from "../limits.js";
import { SYNONYM_TYPES, type SynonymGroup, type SynonymType } from "./types.js";

const MEMBERS = ["type", "synonyms", "root", "enabled"];
const ENTRIES_MIN = 2;

/** The members of a group that a client decides. */
export type SynonymDraft = Pick<SynonymGroup, "type" | "synonyms" | "root" | "enabled">;

/**
 * A create body, or with `current` a PATCH body; null restores a default. `hasWord`: the index's analyser finds
 * a word in the text; entries that were there before are not asked again. Throws SK-SY-400.
 */
export function readSynonyms(
  body: unknown,
  current: SynonymDraft | null,
  limits: Limits,
  hasWord: (text: string) => boolean,
): SynonymDraft {
  const given = new Members(body, "", "SK-SY-400");
  given.allowOnly(MEMBERS);
  const whole = new Members({ ...current, ...given.others([]) }, "", "SK-SY-400");
  const type = whole.optionalOneOf("type", SYNONYM_TYPES) ?? "multi_way";
  const entries = readEntries(whole, limits);
  const root = readRoot(whole, given, type, entries, limits);
  const synonyms = root === null || entries.includes(root) ? entries : [root, ...entries];
  for (const entry of synonyms) {
    if (current?.synonyms.includes(entry) || hasWord(entry)) continue;
    const where = entries.includes(entry) ? `synonyms[${entries.indexOf(entry)}]` : "root";
    whole.refuse(where, `must have a word in it; ${describe(entry)} has none`);
  }
  if (synonyms.length < ENTRIES_MIN) {
    whole.refuse("synonyms", `must have at least ${ENTRIES_MIN} different entries`);
  }
  if (synonyms.length > limits.synonymsPerGroupMax) {
    whole.refuse("synonyms", `has more than ${limits.synonymsPerGroupMax} entries with its root`);
  }
  return { type, synonyms, root, enabled: whole.optionalBoolean("enabled") ?? true };
}

/** What clients see; the index's uid stays inside. */
export function synonymsView({ index: _index, ...shown }: SynonymGroup): Omit<SynonymGroup, "index"> {
  return shown;
}

/** Without white space around them, each once. */
function readEntries(members: Members, limits: Limits): string[] {
  const { synonymsPerGroupMax, synonymBytesMax } = limits;
  const entries =
    members.optionalStrings("synonyms", synonymsPerGroupMax, synonymBytesMax) ??
    members.refuse("synonyms", "is missing; expected an array of words and phrases");
  return [...new Set(entries.map((entry) => entry.trim()))];
}

/** The root of a one_way group: the one given, the present one if it is still an entry, the first entry. */
function readRoot(
  whole: Members,
  given: Members,
  type: SynonymType,
  entries: readonly string[],
  limits: Limits,
): string | null {
  const root = whole.optionalString("root", limits.synonymBytesMax)?.trim();
  if (type === "multi_way") {
    if (given.has("root") && root !== undefined)
      whole.refuse("root", "must be absent: only a one_way group has a root");
    return null;
  }
  if (root !== undefined && (given.has("root") || entries.includes(root))) return root;
  return entries[0] ?? null;
}
