// The model servers named in settings, and their API keys. Settings never contain a key: a key in a settings
// change is taken out, sealed for its tenant and its server, and stored in the index record. Knows nothing
// about what the servers are used for.
import { defaultsTo } from "../../ground/input/object-reader.js";
import { checked, type InputRules, refuse, secret, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { type AddressRules, hostProblem } from "../../ground/outbound/addresses.js";

/** The settings that name a model server (`url`) and may contain a key for it (`api_key`). */
export const KEYED_SETTINGS = ["embedder", "ai"] as const;
export type KeyedSetting = (typeof KEYED_SETTINGS)[number];

/**
 * The API keys in an index record. Each is encrypted with the data directory's key and bound to its tenant
 * and server.
 */
export interface SealedKeys {
  readonly sealedKeys?: { readonly [K in KeyedSetting]?: Uint8Array };
}

/** Reads `api_key` in settings that name a server. */
export const API_KEY = defaultsTo(
  null,
  checked(secret(text(FIXED_LIMITS.modelKeyBytesMax)), (key) =>
    /^[!-~]*$/.test(key) ? null : "must be visible ASCII",
  ),
  "Kept encrypted and never shown. Left out or null: the one that is kept stays; an empty text removes it.",
);

/** Which servers a tenant's indexes may name, and how the tenant's keys for them are sealed. */
export interface ModelServers {
  readonly addresses: AddressRules;
  /** Seals a key for the server in `url`. */
  seal(apiKey: string, url: string): Uint8Array;
}

interface NamedServer {
  readonly url: string | null;
  readonly api_key: string | null;
}

export type NamedServers = { readonly [K in KeyedSetting]: NamedServer };

/** The members of an index record that name the servers and store their keys. */
type ServersOf = SealedKeys & { readonly settings: NamedServers };

/**
 * Returns the sealed keys after a settings change. `before` is the record before the change, or null for a
 * new index. Throws SK-IX-400 if a server is not allowed, or if a stored key would be sent to a server other
 * than the one it was given for.
 */
export function sealedKeys(
  settings: NamedServers,
  before: ServersOf | null,
  servers: ModelServers,
  path: string,
  rules: InputRules,
): SealedKeys {
  const keys: { [K in KeyedSetting]?: Uint8Array } = {};
  for (const name of KEYED_SETTINGS) {
    const { url, api_key: given } = settings[name];
    if (url === null) continue;
    const at = path === "" ? name : `${path}.${name}`;
    const known = before?.settings[name].url ?? null;
    if (url !== known) checkUrl(url, `${at}.url`, servers.addresses, rules);
    const kept = before?.sealedKeys?.[name];
    if (given !== null && given !== "") keys[name] = servers.seal(given, url);
    else if (given === null && kept !== undefined) {
      if (known === null || serverOf(known) !== serverOf(url))
        refuse(`${at}.api_key`, "must be sent again, because the url names a different server", rules);
      keys[name] = kept;
    }
  }
  return Object.keys(keys).length === 0 ? {} : { sealedKeys: keys };
}

/** Scheme, host and port, which together identify the server that a key is valid for. */
export function serverOf(url: string): string {
  return new URL(url).origin;
}

function checkUrl(url: string, path: string, addresses: AddressRules, rules: InputRules): void {
  const problem = hostProblem(url, addresses);
  if (problem !== null) refuse(path, problem, rules);
  const { username, password, hash } = new URL(url);
  if (username !== "" || password !== "") refuse(path, "must not contain a user name or password", rules);
  if (hash !== "") refuse(path, "must not have a fragment (#)", rules);
}
