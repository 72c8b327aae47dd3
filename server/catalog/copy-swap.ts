// Reads the request bodies of copy-settings-from and swap-with, and builds the command for a copy. Deals only
// with names and records: the callers check rights, move data and decide the order of the steps.
import { SkeinError } from "../ground/errors.js";
import { describe } from "../ground/input/json-value.js";
import { defaultsTo, object, required } from "../ground/input/object-reader.js";
import { flag, type InputRules, refuse, someOf, text } from "../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../ground/limits.js";
import { indexRules, invalidIndex } from "./definition/schema.js";
import { checkSettings, type IndexSettings } from "./definition/settings.js";
import { withSettings } from "./indexes.js";
import { KINDS, OWNED_KINDS, type OwnedKind, type OwnedRecords } from "./kinds.js";
import { ownedBy } from "./owned-records.js";
import type { IndexRecord } from "./records/index-record.js";
import type { CatalogState, Command } from "./state.js";

/**
 * The parts of an index that a copy request may name: the settings, and the copyable kinds of records under
 * their public names.
 */
type CopyPart = NonNullable<(typeof KINDS)[OwnedKind]["copiedAs"]> | "settings";
const COPY_PARTS: readonly CopyPart[] = [
  ...OWNED_KINDS.map((kind) => KINDS[kind].copiedAs).filter((part) => part !== null),
  "settings",
];

const OTHER_INDEX = required(text(FIXED_LIMITS.indexNameBytesMax, "the name of an index"));
export const COPY = object(
  {
    source_index: OTHER_INDEX,
    copy: defaultsTo(COPY_PARTS, someOf<CopyPart>(COPY_PARTS, `an array of ${COPY_PARTS.join(", ")}`)),
  },
  { unknown: "refused" },
);
export const SWAP = object(
  { target_index: OTHER_INDEX, drop_source_after: defaultsTo(false, flag()) },
  { unknown: "refused" },
);

export interface CopyRequest {
  readonly sourceIndex: string;
  readonly parts: ReadonlySet<CopyPart>;
}

export interface SwapRequest {
  readonly targetIndex: string;
  readonly dropSource: boolean;
}

export type CopyCommand = Extract<Command, { type: "index.copy" }>;

/** Reads the body of a copy request. `index` is the index name in the path. Throws SK-IX-400. */
export function readCopyRequest(body: unknown, index: string, limits: Limits): CopyRequest {
  const rules = indexRules(limits);
  const { source_index: sourceIndex, copy } = COPY.read(body, "", rules);
  refuseOwnName("source_index", sourceIndex, index, rules);
  return { sourceIndex, parts: new Set(copy) };
}

/** Reads the body of a swap request. `index` is the index name in the path. Throws SK-IX-400. */
export function readSwapRequest(body: unknown, index: string, limits: Limits): SwapRequest {
  const rules = indexRules(limits);
  const { target_index: targetIndex, drop_source_after: dropSource } = SWAP.read(body, "", rules);
  refuseOwnName("target_index", targetIndex, index, rules);
  return { targetIndex, dropSource };
}

/**
 * Builds the command that copies `parts` from `source` to `target`. Copied rules and synonyms replace the
 * target's and get new ids. Throws SK-IX-400 if the settings do not fit the target's schema.
 */
export function copyCommand(
  state: CatalogState,
  source: IndexRecord,
  target: IndexRecord,
  parts: ReadonlySet<CopyPart>,
  now: string,
): CopyCommand {
  const adopt = <K extends OwnedKind>(kind: K): readonly OwnedRecords[K][] =>
    ownedBy(state, kind, source.uid).map((record, i) => {
      const id = state[KINDS[kind].counter] + i;
      return { ...record, id, index: target.uid, created_at: now, updated_at: now };
    });
  const copied = OWNED_KINDS.filter((kind) => {
    const { copiedAs } = KINDS[kind];
    return copiedAs !== null && parts.has(copiedAs);
  });
  return {
    type: "index.copy",
    record: parts.has("settings") ? withCopiedSettings(source, target) : target,
    owned: Object.fromEntries(copied.map((kind) => [kind, adopt(kind)])),
  };
}

function refuseOwnName(member: string, name: string, own: string, rules: InputRules): void {
  if (name === own) refuse(member, "must name a different index from the path", rules);
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
    checkSettings(source.settings, target.fields, "settings", { code: "SK-IX-400" });
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw invalidIndex(`the settings of ${describe(source.name)} do not fit: ${error.message}`);
  }
  return withSettings(target, source); // sealed keys are valid for all of a tenant's indexes
}

function namedFields(settings: IndexSettings): readonly string[] {
  const { searchable_attributes: searchable, sku_fields: skus, brand_field: brand, embedder } = settings;
  return [...(searchable ?? []), ...skus, ...(brand === null ? [] : [brand]), ...(embedder.fields ?? [])];
}
