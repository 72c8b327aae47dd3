// The settings for semantic search, which determine where an index's vectors come from and how they affect
// the results. Reads the members and checks that they are consistent with each other and with the schema.
// Vectors are computed elsewhere.
import { isTextType } from "../../ground/field-types.js";
import { describe, isObject } from "../../ground/input/json-value.js";
import { defaultsTo, object, type ValuesOf } from "../../ground/input/object-reader.js";
import {
  checked,
  type InputRules,
  integer,
  list,
  oneOf,
  ratio,
  refuse,
  text,
  type ValueReader,
  wrongType,
} from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { EMBEDDER_SOURCES, type EmbedderSettings, SOURCE_NAMES, sourcesThat } from "./embedder-sources.js";
import { API_KEY } from "./model-servers.js";
import type { FieldDefinition } from "./schema.js";

export interface SemanticSettings {
  /** In mode "auto", a search is hybrid if fewer documents than this match all of the query's words. */
  readonly auto_max_full_matches: number;
  /** Minimum similarity of a hit that contains none of the query's words. */
  readonly min_similarity: number;
  /** Number of nearest documents considered per query. */
  readonly candidates: number;
}

/** `dimensions` accepts only one value, FIXED_LIMITS.vectorNumbers, because all vectors have that length. */
const DIMENSIONS: ValueReader<number> = {
  takes: String(FIXED_LIMITS.vectorNumbers),
  schema: { enum: [FIXED_LIMITS.vectorNumbers] },
  read: (value, path, rules) =>
    value === FIXED_LIMITS.vectorNumbers ? value : wrongType(path, DIMENSIONS.takes, value, rules),
};

const MEMBERS = {
  source: defaultsTo(
    "auto",
    oneOf(SOURCE_NAMES),
    SOURCE_NAMES.flatMap((name) => {
      const { description } = EMBEDDER_SOURCES[name];
      return description === null ? [] : [`${name}: ${description}.`];
    }).join(" "),
  ),
  url: defaultsTo(
    null,
    text(FIXED_LIMITS.modelUrlBytesMax, "an http or https URL"),
    "Only of an endpoint, which needs it.",
  ),
  model: defaultsTo(
    null,
    filled(text(FIXED_LIMITS.modelNameBytesMax)),
    "Only of an endpoint, which needs it.",
  ),
  api_key: API_KEY,
  fields: defaultsTo(
    null,
    checked(
      list(text(FIXED_LIMITS.fieldNameBytesMax), "fieldsPerIndexMax", "an array of names of fields"),
      (fields) => (fields.length === 0 ? "must name at least one field, or be null" : null),
    ),
    "string and string[] fields; null: the searchable ones.",
  ),
  dimensions: defaultsTo(FIXED_LIMITS.vectorNumbers, DIMENSIONS),
};
const EMBEDDER = object(MEMBERS, { unknown: "refused" });

type GivenEmbedder = ValuesOf<typeof MEMBERS>;

/** Reads `embedder`. If a change selects a source without a server, `url` and `model` are reset to null. */
const EMBEDDER_CHANGE: ValueReader<GivenEmbedder> = {
  ...EMBEDDER,
  read(value, path, rules, present) {
    const leaves = isObject(value) && value.source !== undefined && !asksServer(value.source);
    const before = leaves && present !== undefined ? { ...present, url: null, model: null } : present;
    const embedder = EMBEDDER.read(value, path, rules, before);
    checkMembers(embedder, path, rules);
    return embedder;
  },
};

const SEMANTIC = object(
  {
    auto_max_full_matches: defaultsTo(
      10,
      integer(0, FIXED_LIMITS.autoFullMatchesMax),
      "search_mode auto is hybrid when fewer documents than this match all words.",
    ),
    min_similarity: defaultsTo(0.25, ratio(), "Of a hit that has none of the query's words."),
    candidates: defaultsTo(
      200,
      integer(1, FIXED_LIMITS.semanticCandidatesMax),
      "How many nearest documents a query takes.",
    ),
  },
  { unknown: "refused" },
);

/** The index settings for semantic search, by name. */
export const SEMANTIC_SETTINGS = {
  embedder: defaultsTo(EMBEDDER.defaults, EMBEDDER_CHANGE),
  semantic: defaultsTo(SEMANTIC.defaults, SEMANTIC),
};

const SERVED = sourcesThat(({ wire }) => wire !== null);

function asksServer(source: unknown): boolean {
  const name = SOURCE_NAMES.find((known) => known === source);
  return name !== undefined && EMBEDDER_SOURCES[name].wire !== null;
}

function checkMembers(
  { source, url, model, api_key: key }: GivenEmbedder,
  path: string,
  rules: InputRules,
): void {
  const needed = asksServer(source);
  for (const [name, value] of Object.entries({ url, model, api_key: key })) {
    if (!needed && value !== null)
      refuse(`${path}.${name}`, `must be absent unless ${path}.source is ${SERVED}`, rules);
    if (needed && value === null && name !== "api_key")
      refuse(`${path}.${name}`, `is missing; ${path}.source is ${source}`, rules);
  }
}

/** Checks that the fields listed in `embedder` can be embedded. `wrong` must throw the error. */
export function checkEmbedderFields(
  { source, fields: names }: EmbedderSettings,
  fields: readonly FieldDefinition[],
  wrong: (why: string) => never,
): void {
  if (names === null) return;
  for (const name of names) {
    const field = fields.find((candidate) => candidate.name === name);
    if (field === undefined) wrong(`names ${describe(name)}, which is not a field of the schema`);
    else if (!isTextType(field.type))
      wrong(`names ${describe(name)}, which is not a string or string[] field`);
    // Learned vectors are trained on indexed words, so the field's words must be indexed.
    else if (!field.index && EMBEDDER_SOURCES[source].vectors === "learned")
      wrong(`names ${describe(name)}, which is not indexed, so nothing can be learned from it`);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) wrong(`names ${describe(twice)} twice`);
}

function filled(reader: ValueReader<string>): ValueReader<string> {
  return checked(reader, (value) => (value.trim() === "" ? "must not be empty" : null), { minLength: 1 });
}
