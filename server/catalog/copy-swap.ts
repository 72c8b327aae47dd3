// copy-settings-from and swap-with: reads their bodies and makes the one command that each of them becomes.
// Knows names and records; rights, data and the order of things are the callers'.
import { SkeinError } from "../errors.js";
import { describe, Members } from "../input.js";
import type { Limits } from "../limits.js";
import { withSettings } from "./indexes.js";
import { invalidIndex } from "./schema.js";
import { checkSettings } from "./settings.js";
import { type CatalogState, type Command, rulesOf, synonymsOf } from "./state.js";
import type { IndexRecord, IndexSettings, RankingRule, SynonymGroup } from "./types.js";

const COPY_PARTS = ["synonyms", "ranking_rules", "settings"] as const;
type CopyPart = (typeof COPY_PARTS)[number];

export interface CopyRequest {
  readonly sourceIndex: string;
  readonly parts: ReadonlySet<CopyPart>;
}

export interface SwapRequest {
  readonly targetIndex: string;
  readonly dropSource: boolean;
}

export type CopyCommand = Extract<Command, { type: "index.copy" }>;

/** `index` is the name in the path. Throws SK-IX-400. */
export function readCopyRequest(body: unknown, index: string, limits: Limits): CopyRequest {
  const members = new Members(body, "", "SK-IX-400");
  members.allowOnly(["source_index", "copy"]);
  const sourceIndex = readOtherName(members, "source_index", index, limits);
  if (!members.has("copy") || members.value("copy") === null) {
    return { sourceIndex, parts: new Set(COPY_PARTS) };
  }
  const wanted = members.array("copy", 100, `an array of ${COPY_PARTS.join(", ")}`);
  if (wanted.length === 0) members.refuse("copy", `must name at least one of ${COPY_PARTS.join(", ")}`);
  const parts = wanted.map(
    (part, i) =>
      COPY_PARTS.find((known) => known === part) ??
      members.refuse(`copy[${i}]`, `must be one of ${COPY_PARTS.join(", ")}, not ${describe(part)}`),
  );
  return { sourceIndex, parts: new Set(parts) };
}

/** `index` is the name in the path. Throws SK-IX-400. */
export function readSwapRequest(body: unknown, index: string, limits: Limits): SwapRequest {
  const members = new Members(body, "", "SK-IX-400");
  members.allowOnly(["target_index", "drop_source_after"]);
  return {
    targetIndex: readOtherName(members, "target_index", index, limits),
    dropSource: members.optionalBoolean("drop_source_after") ?? false,
  };
}

/**
 * What `target` is after it took the parts over from `source`: copied rules and synonyms replace its own and get
 * new ids. Throws SK-IX-400 when the settings do not fit the target's schema.
 */
export function copyCommand(
  state: CatalogState,
  source: IndexRecord,
  target: IndexRecord,
  parts: ReadonlySet<CopyPart>,
  now: string,
): CopyCommand {
  const { uid } = target;
  const adopt = <T extends RankingRule | SynonymGroup>(records: readonly T[], nextId: number): T[] =>
    records.map((record, i) => ({ ...record, id: nextId + i, index: uid, created_at: now, updated_at: now }));
  return {
    type: "index.copy",
    record: parts.has("settings") ? withCopiedSettings(source, target) : target,
    rules: parts.has("ranking_rules") ? adopt(rulesOf(state, source.uid), state.nextRuleId) : null,
    synonyms: parts.has("synonyms") ? adopt(synonymsOf(state, source.uid), state.nextSynonymId) : null,
  };
}

function readOtherName(members: Members, member: string, own: string, limits: Limits): string {
  const name = members.string(member, limits.indexNameBytesMax, "the name of an index");
  if (name === own) members.refuse(member, "must name another index than the path");
  return name;
}

function withCopiedSettings(source: IndexRecord, target: IndexRecord): IndexRecord {
  const missing = namedFields(source.settings).filter(
    (name) => !target.fields.some((field) => field.name === name),
  );
  if (missing.length > 0) {
    const names = [...new Set(missing)].map((name) => JSON.stringify(name)).join(", ");
    throw new SkeinError(
      "SK-IX-400",
      `the settings of ${describe(source.name)} name fields that ${describe(target.name)} does not have: ${names}`,
      { details: { fields: [...new Set(missing)] } },
    );
  }
  try {
    checkSettings(source.settings, target.fields, new Members({}, "settings", "SK-IX-400"));
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw invalidIndex(`the settings of ${describe(source.name)} do not fit: ${error.message}`);
  }
  return withSettings(target, source.settings);
}

function namedFields({ searchable_attributes, sku_fields, brand_field }: IndexSettings): readonly string[] {
  return [...(searchable_attributes ?? []), ...sku_fields, ...(brand_field === null ? [] : [brand_field])];
}
