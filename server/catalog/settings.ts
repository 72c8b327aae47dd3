// Search settings of an index: defaults, and the check of a change against the schema. Settings change only
// what the query side does, but for those that the terms of documents depend on, which make stored segments stale.
import { isTextType } from "../field-types.js";
import { describe, Members } from "../input.js";
import type { Limits } from "../limits.js";
import { checkLanguage } from "./schema.js";
import type { FieldDefinition, HighlightSettings, IndexSettings } from "./types.js";

export const DEFAULT_SETTINGS: IndexSettings = {
  searchable_attributes: null,
  weights: null,
  num_typos: 2,
  prefix: true,
  min_len_1typo: 4,
  min_len_2typo: 8,
  typo_on_numbers: false,
  typo_policy: "auto",
  stop_words: [],
  language: null,
  sku_fields: [],
  brand_field: null,
  token_separators: [],
  symbols_to_index: [],
  drop_tokens_threshold: 1,
  highlight: { snippet_tokens: 30, start_tag: "<mark>", end_tag: "</mark>", escape_html: false },
};

const NAMES = Object.keys(DEFAULT_SETTINGS);
const HIGHLIGHT_NAMES = Object.keys(DEFAULT_SETTINGS.highlight);
const TAG_BYTES_MAX = 200;
const WEIGHT_MAX = 1_000_000;

/** Settings after a change: members given replace, null restores the default, others stay. Throws SK-IX-400. */
export function changedSettings(
  current: IndexSettings,
  body: unknown,
  fields: readonly FieldDefinition[],
  limits: Limits,
  path = "",
): IndexSettings {
  const members = new Members(body, path, "SK-IX-400");
  members.allowOnly(NAMES);
  /** The checked new value, the default for null, the present one when not given. */
  const pick = <K extends keyof IndexSettings>(
    name: K,
    read: () => IndexSettings[K] | undefined,
  ): IndexSettings[K] => (members.has(name) ? (read() ?? DEFAULT_SETTINGS[name]) : current[name]);
  const strings = (name: string): string[] | undefined =>
    members.optionalStrings(name, limits.settingsListMax, limits.settingsWordBytesMax);
  const settings: IndexSettings = {
    searchable_attributes: pick("searchable_attributes", () => strings("searchable_attributes")),
    weights: pick("weights", () => readWeights(members, limits)),
    num_typos: pick("num_typos", () => members.optionalInteger("num_typos", 0, 4)),
    prefix: pick("prefix", () => members.optionalBoolean("prefix")),
    min_len_1typo: pick("min_len_1typo", () => members.optionalInteger("min_len_1typo", 1, 100)),
    min_len_2typo: pick("min_len_2typo", () => members.optionalInteger("min_len_2typo", 1, 100)),
    typo_on_numbers: pick("typo_on_numbers", () => members.optionalBoolean("typo_on_numbers")),
    typo_policy: pick("typo_policy", () =>
      members.optionalOneOf("typo_policy", ["auto", "always", "missing"]),
    ),
    stop_words: pick("stop_words", () => strings("stop_words")),
    language: pick("language", () => readLanguage(members)),
    sku_fields: pick("sku_fields", () => strings("sku_fields")),
    brand_field: pick("brand_field", () => members.optionalString("brand_field", limits.fieldNameBytesMax)),
    token_separators: pick("token_separators", () => readCharacters(members, "token_separators")),
    symbols_to_index: pick("symbols_to_index", () => readCharacters(members, "symbols_to_index")),
    drop_tokens_threshold: pick("drop_tokens_threshold", () =>
      members.optionalInteger("drop_tokens_threshold", 0, 1_000_000),
    ),
    highlight: pick("highlight", () => readHighlight(members, current.highlight)),
  };
  checkSettings(settings, fields, members);
  return settings;
}

/** Whether documents must be analysed anew. */
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

/** The settings must fit the schema and each other; also asked when a field is dropped. */
export function checkSettings(
  settings: IndexSettings,
  fields: readonly FieldDefinition[],
  members: Members,
): void {
  const { searchable_attributes: searchable, weights, brand_field: brand } = settings;
  if (searchable !== null) {
    for (const name of searchable) checkTextField("searchable_attributes", name, fields, members);
    const twice = searchable.find((name, i) => searchable.indexOf(name) !== i);
    if (twice !== undefined) members.refuse("searchable_attributes", `names ${describe(twice)} twice`);
  }
  if (weights !== null && searchable === null) {
    members.refuse("weights", "needs searchable_attributes, whose order it follows");
  }
  if (weights !== null && searchable !== null && weights.length !== searchable.length) {
    members.refuse(
      "weights",
      `has ${weights.length} entries but searchable_attributes has ${searchable.length}`,
    );
  }
  for (const name of settings.sku_fields) checkTextField("sku_fields", name, fields, members);
  if (brand !== null) checkTextField("brand_field", brand, fields, members);
  if (settings.min_len_2typo < settings.min_len_1typo) {
    members.refuse("min_len_2typo", `must not be below min_len_1typo (${settings.min_len_1typo})`);
  }
}

function checkTextField(
  setting: string,
  name: string,
  fields: readonly FieldDefinition[],
  members: Members,
): void {
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined)
    members.refuse(setting, `names ${describe(name)}, which is not a field of the schema`);
  else if (!isTextType(field.type) || !field.index) {
    members.refuse(setting, `names ${describe(name)}, which is not an indexed string or string[] field`);
  }
}

function readWeights(members: Members, limits: Limits): number[] | undefined {
  if (members.value("weights") === null) return undefined;
  return members.array("weights", limits.fieldsPerIndexMax, "an array of numbers").map((weight, i) => {
    if (typeof weight === "number" && weight > 0 && weight <= WEIGHT_MAX) return weight;
    return members.refuse(
      `weights[${i}]`,
      `must be a number above 0 and up to ${WEIGHT_MAX}, not ${describe(weight)}`,
    );
  });
}

function readLanguage(members: Members): string | undefined {
  const language = members.optionalString("language", 20);
  if (language !== undefined) checkLanguage(language, members);
  return language;
}

/** Single characters, each once. */
function readCharacters(members: Members, name: string): string[] | undefined {
  const characters = members.optionalStrings(name, 1000, 8);
  characters?.forEach((character, i) => {
    if ([...character].length !== 1 || /[\s\p{Cc}\p{Surrogate}]/u.test(character)) {
      members.refuse(
        `${name}[${i}]`,
        `must be one character, not white space and no control character; it is ${describe(character)}`,
      );
    }
  });
  return characters === undefined ? undefined : [...new Set(characters)];
}

function readHighlight(members: Members, current: HighlightSettings): HighlightSettings | undefined {
  if (members.value("highlight") === null) return undefined;
  const given = members.object("highlight");
  given.allowOnly(HIGHLIGHT_NAMES);
  const defaults = DEFAULT_SETTINGS.highlight;
  const kept = <K extends keyof HighlightSettings>(name: K): HighlightSettings[K] =>
    (given.has(name) ? defaults : current)[name];
  return {
    snippet_tokens: given.optionalInteger("snippet_tokens", 1, 1000) ?? kept("snippet_tokens"),
    start_tag: given.optionalString("start_tag", TAG_BYTES_MAX) ?? kept("start_tag"),
    end_tag: given.optionalString("end_tag", TAG_BYTES_MAX) ?? kept("end_tag"),
    escape_html: given.optionalBoolean("escape_html") ?? kept("escape_html"),
  };
}
