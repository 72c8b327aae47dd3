// The API keys in settings, sealed at rest. A sealed key opens only for the tenant and the server it was
// given for: settings copied to another index of the tenant keep working, but changing the URL cannot send
// the key to another server.

import { type KeyedSetting, type ModelServers, serverOf } from "../catalog/definition/model-servers.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Secrets } from "../ground/data-dir/secrets.js";
import type { AddressRules } from "../ground/outbound/addresses.js";

/** Address rules and sealing of keys for the servers named in the tenant's settings. */
export function modelServers(secrets: Secrets, addresses: AddressRules, tenant: number): ModelServers {
  return { addresses, seal: (apiKey, url) => secrets.seal(apiKey, subject(tenant, url)) };
}

/** Returns null if the setting has no key. Throws UnreadableSecretError. */
export function openApiKey(secrets: Secrets, record: IndexRecord, setting: KeyedSetting): string | null {
  const sealed = record.sealedKeys?.[setting];
  const { url } = record.settings[setting];
  return sealed === undefined || url === null ? null : secrets.open(sealed, subject(record.tenant, url));
}

/**
 * The record with the setting's key unsealed and sealed again with the secrets `to`. Throws
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
