// An index's search settings. Defines the defaults and checks a change against the schema. Most settings
// affect only queries, but a change to one that affects the documents' terms makes stored segments stale.

import { isTextType } from "../../ground/field-types.js";
import { describe } from "../../ground/input/json-value.js";
import { defaultsTo, object } from "../../ground/input/object-reader.js";
import {
  checked,
  flag,
  type InputRules,
  integer,
  list,
  numberAboveZero,
  oneOf,
  refuse,
  text,
  texts,
  type ValueReader,
} from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { AI_SETTING, type AiSetting } from "./ai-setting.js";
import { checkEmbedderFields, SEMANTIC_SETTINGS, type SemanticSettings } from "./embedder-settings.js";
import type { EmbedderSettings } from "./embedder-sources.js";
import { type ModelServers, type SealedKeys, sealedKeys } from "./model-servers.js";
import { type FieldDefinition, indexRules, LANGUAGE } from "./schema.js";

interface HighlightSettings {
  /** Number of tokens in a long field's snippet. */
  readonly snippet_tokens: number;
  readonly start_tag: string;
  readonly end_tag: string;
  readonly escape_html: boolean;
}

export interface IndexSettings {
  /** Names of the fields to search. Null means all indexed string and string[] fields, in schema order. */
  readonly searchable_attributes: readonly string[] | null;
  /** One weight per searchable attribute, in the same order. Null means descending weights. */
  readonly weights: readonly number[] | null;
  readonly num_typos: number;
  readonly prefix: boolean;
  readonly min_len_1typo: number;
  readonly min_len_2typo: number;
  readonly typo_on_numbers: boolean;
  readonly typo_policy: "auto" | "always" | "missing";
  readonly stop_words: readonly string[];
  readonly language: string | null;
  readonly sku_fields: readonly string[];
  readonly brand_field: string | null;
  readonly token_separators: readonly string[];
  readonly symbols_to_index: readonly string[];
  readonly drop_tokens_threshold: number;
  readonly highlight: HighlightSettings;
  readonly embedder: EmbedderSettings;
  readonly semantic: SemanticSettings;
  readonly ai: AiSetting;
}

/** The members of an index record that a settings change replaces: the settings and the sealed keys. */
export interface SettingsOf extends SealedKeys {
  readonly settings: IndexSettings;
}

/** A list of single characters. Duplicates are removed. */
const CHARACTERS: ValueReader<readonly string[]> = once(
  list(
    checked(text(FIXED_LIMITS.settingsCharacterBytesMax), (character) =>
      [...character].length === 1 && !/[\s\p{Cc}]/u.test(character)
        ? null
        : `must be a single character other than white space or a control character, not ${describe(character)}`,
    ),
    FIXED_LIMITS.settingsCharactersMax,
    "an array of strings",
  ),
);
const WORDS = texts(FIXED_LIMITS.settingsListMax, FIXED_LIMITS.settingsWordBytesMax);
const WORD_LETTERS = integer(1, FIXED_LIMITS.minLenTypoLettersMax);

const HIGHLIGHT = object(
  {
    snippet_tokens: defaultsTo(
      30,
      integer(1, FIXED_LIMITS.snippetTokensMax),
      "Tokens shown in a snippet of a long field.",
    ),
    start_tag: defaultsTo("<mark>", text(FIXED_LIMITS.highlightTagBytesMax)),
    end_tag: defaultsTo("</mark>", text(FIXED_LIMITS.highlightTagBytesMax)),
    escape_html: defaultsTo(false, flag()),
  },
  { unknown: "refused" },
);

export const SETTINGS = object(
  {
    searchable_attributes: defaultsTo(null, WORDS, "null: all string and string[] fields in schema order."),
    weights: defaultsTo(
      null,
      list(numberAboveZero(FIXED_LIMITS.fieldWeightMax), "fieldsPerIndexMax", "an array of numbers"),
      "In the order of searchable_attributes; null: descending by that order.",
    ),
    num_typos: defaultsTo(2, integer(0, FIXED_LIMITS.typosMax)),
    prefix: defaultsTo(true, flag()),
    min_len_1typo: defaultsTo(4, WORD_LETTERS),
    min_len_2typo: defaultsTo(8, WORD_LETTERS),
    typo_on_numbers: defaultsTo(false, flag()),
    typo_policy: defaultsTo("auto", oneOf(["auto", "always", "missing"])),
    stop_words: defaultsTo([], WORDS),
    language: defaultsTo(null, LANGUAGE),
    sku_fields: defaultsTo([], WORDS),
    brand_field: defaultsTo(null, text(FIXED_LIMITS.fieldNameBytesMax)),
    token_separators: defaultsTo([], CHARACTERS),
    symbols_to_index: defaultsTo([], CHARACTERS),
    drop_tokens_threshold: defaultsTo(1, integer(0, FIXED_LIMITS.dropTokensThresholdMax)),
    highlight: defaultsTo(HIGHLIGHT.defaults, HIGHLIGHT),
    ...SEMANTIC_SETTINGS,
    ai: AI_SETTING,
  },
  { unknown: "refused" },
);

export type GivenSettings = typeof SETTINGS.defaults;

export const DEFAULT_SETTINGS: IndexSettings = withoutKeys(SETTINGS.defaults);

/**
 * Returns the settings after a change. Given members replace the old ones, null restores a default, and
 * absent members stay unchanged. Throws SK-IX-400.
 */
export function changedSettings(
  current: SettingsOf,
  body: unknown,
  fields: readonly FieldDefinition[],
  limits: Limits,
  servers: ModelServers,
): SettingsOf {
  const rules = indexRules(limits);
  const given = SETTINGS.read(body, "", rules, current.settings);
  return settingsOf(given, current, fields, "", servers, rules);
}

/** Checks the given settings and seals their API keys. `before` is null for a new index. Throws SK-IX-400. */
export function settingsOf(
  given: GivenSettings,
  before: SettingsOf | null,
  fields: readonly FieldDefinition[],
  path: string,
  servers: ModelServers,
  rules: InputRules,
): SettingsOf {
  const settings = withoutKeys(given);
  checkSettings(settings, fields, path, rules);
  return { settings, ...sealedKeys(given, before, servers, path, rules) };
}

function withoutKeys(given: GivenSettings): IndexSettings {
  const { embedder, ai } = given;
  return { ...given, embedder: { ...embedder, api_key: null }, ai: { ...ai, api_key: null } };
}

/** True if changing the settings from `a` to `b` requires analysing the documents again. */
export function analysisDiffers(a: IndexSettings, b: IndexSettings): boolean {
  const key = (settings: IndexSettings): string =>
    JSON.stringify([
      settings.token_separators,
      settings.symbols_to_index,
      settings.language,
      [...settings.sku_fields].sort(),
      settings.brand_field,
    ]);
  return key(a) !== key(b);
}

/**
 * Checks that the settings are consistent with the schema and with each other. Also called after a schema
 * change. Throws SK-IX-400.
 */
export function checkSettings(
  settings: IndexSettings,
  fields: readonly FieldDefinition[],
  path: string,
  rules: Pick<InputRules, "code">,
): void {
  const { searchable_attributes: searchable, weights, brand_field: brand } = settings;
  const wrong = (name: keyof IndexSettings | "embedder.fields", why: string): never =>
    refuse(path === "" ? name : `${path}.${name}`, why, rules);
  const checkTextField = (setting: keyof IndexSettings, name: string): void => {
    const field = fields.find((candidate) => candidate.name === name);
    if (field === undefined) wrong(setting, `names ${describe(name)}, which is not a field of the schema`);
    else if (!isTextType(field.type) || !field.index)
      wrong(setting, `names ${describe(name)}, which is not an indexed string or string[] field`);
  };
  if (searchable !== null) {
    for (const name of searchable) checkTextField("searchable_attributes", name);
    const twice = searchable.find((name, i) => searchable.indexOf(name) !== i);
    if (twice !== undefined) wrong("searchable_attributes", `names ${describe(twice)} twice`);
  }
  if (weights !== null && searchable === null)
    wrong("weights", "needs searchable_attributes, whose order it follows");
  if (weights !== null && searchable !== null && weights.length !== searchable.length)
    wrong("weights", `has ${weights.length} entries but searchable_attributes has ${searchable.length}`);
  for (const name of settings.sku_fields) checkTextField("sku_fields", name);
  if (brand !== null) checkTextField("brand_field", brand);
  checkEmbedderFields(settings.embedder, fields, (why) => wrong("embedder.fields", why));
  if (settings.min_len_2typo < settings.min_len_1typo)
    wrong("min_len_2typo", `must not be below min_len_1typo (${settings.min_len_1typo})`);
}

function once(reader: ValueReader<readonly string[]>): ValueReader<readonly string[]> {
  return { ...reader, read: (value, path, rules) => [...new Set(reader.read(value, path, rules))] };
}
