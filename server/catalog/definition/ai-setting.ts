// The index setting `ai`, which determines whether rules or a language model interpret an index's queries.
// Reads its members and checks that they are consistent. Queries are interpreted elsewhere.
import { isObject } from "../../ground/input/json-value.js";
import { type BodyMember, defaultsTo, object, type ValuesOf } from "../../ground/input/object-reader.js";
import {
  type InputRules,
  integer,
  oneOf,
  refuse,
  text,
  type ValueReader,
} from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { API_KEY } from "./model-servers.js";

/**
 * Says whether rules interpret an index's queries, or a language model on an OpenAI-compatible server does.
 */
export interface AiSetting {
  readonly provider: "rules" | "endpoint";
  /** `url` and `model` are set if and only if the provider is "endpoint". */
  readonly url: string | null;
  readonly model: string | null;
  /** Always null here. The index record stores the sealed key. */
  readonly api_key: null;
  readonly timeout_ms: number;
}

const MEMBERS = {
  provider: defaultsTo("rules", oneOf(["rules", "endpoint"])),
  url: defaultsTo(
    null,
    text(FIXED_LIMITS.modelUrlBytesMax, "an http or https URL"),
    "Of an OpenAI-compatible server. Only of an endpoint, which needs it.",
  ),
  model: defaultsTo(null, text(FIXED_LIMITS.modelNameBytesMax), "Only of an endpoint, which needs it."),
  api_key: API_KEY,
  timeout_ms: defaultsTo(400, integer(50, 5_000), "A query waits for the endpoint no longer than this."),
};
const AI = object(MEMBERS, { unknown: "refused" });

type GivenAi = ValuesOf<typeof MEMBERS>;

/** Reads `ai`. If a change selects the rules, `url` and `model` are reset to null. */
const AI_CHANGE: ValueReader<GivenAi> = {
  ...AI,
  read(value, path, rules, present) {
    const leaves = isObject(value) && value.provider !== undefined && value.provider !== "endpoint";
    const before = leaves && present !== undefined ? { ...present, url: null, model: null } : present;
    const ai = AI.read(value, path, rules, before);
    checkMembers(ai, path, rules);
    return ai;
  },
};

/** The `ai` member of the settings. */
export const AI_SETTING: BodyMember<GivenAi> = defaultsTo(
  AI.defaults,
  AI_CHANGE,
  "Who reads what queries mean.",
);

function checkMembers(
  { provider, url, model, api_key: key }: GivenAi,
  path: string,
  rules: InputRules,
): void {
  if (provider === "endpoint") {
    if (url === null || model === null)
      refuse(path, "must have url and model for the provider endpoint", rules);
    return;
  }
  for (const [name, value] of Object.entries({ url, model, api_key: key })) {
    if (value !== null)
      refuse(`${path}.${name}`, `must be absent unless ${path}.provider is endpoint`, rules);
  }
}
