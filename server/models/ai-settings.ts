// The configuration member "ai", which contains the addresses of model servers, and the address rules for
// servers that tenants choose.
import { defaultsTo, object, optional } from "../ground/input/object-reader.js";
import {
  anything,
  checked,
  flag,
  type InputRules,
  integer,
  oneOf,
  refuse,
  secret,
  text,
  texts,
} from "../ground/input/readers.js";
import type { AddressRules } from "../ground/outbound/addresses.js";

/** An OpenAI-compatible server that the operator has chosen. It may therefore have any address. */
export interface EndpointSettings {
  readonly url: URL;
  readonly model: string;
  /** Null if the server requires none. */
  readonly apiKey: string | null;
  /** Time limit (ms) for a whole task, which may consist of several requests. */
  readonly msMax: number;
}

/**
 * The configuration member "ai". The address rules apply to model servers that tenants name in their
 * settings.
 */
export interface AiSettings extends AddressRules {
  /**
   * The server whose model writes the text of the coach's recommendations. Null if the coach uses no model.
   */
  readonly coach: EndpointSettings | null;
}

const AI = object(
  {
    coach: optional(anything()),
    allow_private: defaultsTo(false, flag()),
    allow_hosts: defaultsTo([], texts(1_000, 255)),
  },
  { unknown: "refused" },
);
const PROVIDER = object(
  { provider: defaultsTo("miner", oneOf(["miner", "endpoint"])) },
  { unknown: "ignored" },
);
const MINER = object({ provider: optional(text()) }, { unknown: "refused" });
const ENDPOINT = object(
  {
    provider: optional(text()),
    url: optional(
      checked(text(2_000), (url) => (isHttp(url) ? null : "must begin with http:// or https://")),
    ),
    model: optional(text(200)),
    api_key: optional(
      checked(secret(text(1_000)), (key) => (/^[!-~]+$/.test(key) ? null : "must be visible ASCII")),
    ),
    timeout_ms: defaultsTo(30_000, integer(100, 600_000)),
  },
  { unknown: "refused" },
);

/** Reads the member. Throws a SkeinError whose message names the faulty part. */
export function readAiSettings(value: unknown, path: string, rules: InputRules): AiSettings {
  const ai = value === undefined ? AI.defaults : AI.read(value, path, rules);
  return {
    coach: ai.coach === undefined ? null : readProvider(ai.coach, `${path}.coach`, rules),
    allowPrivate: ai.allow_private,
    allowHosts: ai.allow_hosts,
  };
}

function readProvider(value: unknown, path: string, rules: InputRules): EndpointSettings | null {
  if (PROVIDER.read(value, path, rules).provider === "miner") {
    MINER.read(value, path, rules);
    return null;
  }
  const { url, model, api_key: apiKey = null, timeout_ms: msMax } = ENDPOINT.read(value, path, rules);
  if (url === undefined || model === undefined)
    return refuse(path, "must have url and model for the provider endpoint", rules);
  return { url: new URL(url), model, apiKey, msMax };
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
