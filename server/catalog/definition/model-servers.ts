// The servers of models that settings name, and their API keys. Settings never hold a key: it is taken out of
// a change, and the record keeps it sealed, for its tenant and for the server that it was given for. Knows
// nothing of what is asked there.
import { defaultsTo } from "../../ground/input/object-reader.js";
import { checked, type InputRules, refuse, secret, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { type AddressRules, hostProblem } from "../../ground/outbound/addresses.js";

/** The settings that name the server of a model (`url`), for which a key may have been given (`api_key`). */
export const KEYED_SETTINGS = ["embedder", "ai"] as const;
export type KeyedSetting = (typeof KEYED_SETTINGS)[number];

/**
 * The part of an index record that keeps the API keys, sealed with the data directory's key for tenant and
 * server.
 */
export interface SealedKeys {
  readonly sealedKeys?: { readonly [K in KeyedSetting]?: Uint8Array };
}

/** The member `api_key` of a setting that names a server. */
export const API_KEY = defaultsTo(
  null,
  checked(secret(text(FIXED_LIMITS.modelKeyBytesMax)), (key) =>
    /^[!-~]*$/.test(key) ? null : "must be visible ASCII",
  ),
  "Kept encrypted and never shown. Left out or null: the one that is kept stays; an empty text removes it.",
);

/** What holds for the servers that an index of one tenant may name. */
export interface ModelServers {
  readonly addresses: AddressRules;
  /** Seals a key for the server of a URL. */
  seal(apiKey: string, url: string): Uint8Array;
}

interface NamedServer {
  readonly url: string | null;
  readonly api_key: string | null;
}

export type NamedServers = { readonly [K in KeyedSetting]: NamedServer };

/** The part of a record that says which servers it names and holds their keys. */
type ServersOf = SealedKeys & { readonly settings: NamedServers };

/**
 * The sealed keys that belong to the settings after a change. `before` is the record as it was, null when it
 * is new. Throws SK-IX-400 for a server that may not be named, and for one that would get a key which was
 * given for another.
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
        refuse(`${at}.api_key`, "must be given again, since the url names another server", rules);
      keys[name] = kept;
    }
  }
  return Object.keys(keys).length === 0 ? {} : { sealedKeys: keys };
}

/** Scheme, host and port: whom a key may be sent to. */
export function serverOf(url: string): string {
  return new URL(url).origin;
}

function checkUrl(url: string, path: string, addresses: AddressRules, rules: InputRules): void {
  const problem = hostProblem(url, addresses);
  if (problem !== null) refuse(path, problem, rules);
  const { username, password, hash } = new URL(url);
  if (username !== "" || password !== "") refuse(path, "must not hold a user name or a password", rules);
  if (hash !== "") refuse(path, "must not have a part behind #", rules);
}
