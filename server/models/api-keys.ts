// Seals the API keys in index settings for storage. A sealed key opens only for the tenant and the server for
// which it was given. A tenant can therefore copy settings from one of its indexes to another, but nobody can
// send the key to another server by changing the URL.

import { type KeyedSetting, type ModelServers, serverOf } from "../catalog/definition/model-servers.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Secrets } from "../ground/data-dir/secrets.js";
import type { AddressRules } from "../ground/outbound/addresses.js";

/** Returns the address rules and the key sealing that apply to the servers in a tenant's settings. */
export function modelServers(secrets: Secrets, addresses: AddressRules, tenant: number): ModelServers {
  return { addresses, seal: (apiKey, url) => secrets.seal(apiKey, subject(tenant, url)) };
}

/** Unseals a setting's key. Returns null if the setting has no key. Throws UnreadableSecretError. */
export function openApiKey(secrets: Secrets, record: IndexRecord, setting: KeyedSetting): string | null {
  const sealed = record.sealedKeys?.[setting];
  const { url } = record.settings[setting];
  return sealed === undefined || url === null ? null : secrets.open(sealed, subject(record.tenant, url));
}

/**
 * Returns the record with the setting's key unsealed and then resealed with the secrets `to`. Throws
 * UnreadableSecretError.
 */
export function withResealedKey(
  record: IndexRecord,
  setting: KeyedSetting,
  from: Secrets,
  to: Secrets,
): IndexRecord {
  const key = openApiKey(from, record, setting);
  const { url } = record.settings[setting];
  if (key === null || url === null) return record;
  const sealed = to.seal(key, subject(record.tenant, url));
  return { ...record, sealedKeys: { ...record.sealedKeys, [setting]: sealed } };
}

function subject(tenant: number, url: string): string {
  return `API key of tenant ${tenant} for ${serverOf(url)}`;
}
