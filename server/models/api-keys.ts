// The API keys of settings at rest. A sealed key opens for its tenant and for the server that it was given for, no other: so a
// copy of the settings in another index of the tenant works, and a changed URL leads no key away.

import { type KeyedSetting, type ModelServers, serverOf } from "../catalog/definition/model-servers.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Secrets } from "../ground/data-dir/secrets.js";
import type { AddressRules } from "../ground/outbound/addresses.js";

/** What holds for the servers that the tenant's settings name. */
export function modelServers(secrets: Secrets, addresses: AddressRules, tenant: number): ModelServers {
  return { addresses, seal: (apiKey, url) => secrets.seal(apiKey, subject(tenant, url)) };
}

/** Null when the setting has none. Throws UnreadableSecretError. */
export function openApiKey(secrets: Secrets, record: IndexRecord, setting: KeyedSetting): string | null {
  const sealed = record.sealedKeys?.[setting];
  const { url } = record.settings[setting];
  return sealed === undefined || url === null ? null : secrets.open(sealed, subject(record.tenant, url));
}

/** The record with the setting's key sealed anew. Throws UnreadableSecretError. */
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
