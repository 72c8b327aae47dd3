// Seals feed passwords for storage. A sealed password can be opened only for the data source it was sealed
// for.
import type { DataSource } from "../../catalog/records/data-source.js";
import { type Secrets, UnreadableSecretError } from "../../ground/data-dir/secrets.js";
import { FeedError } from "../../ground/errors.js";

export function sealPassword(secrets: Secrets, source: number, password: string): Uint8Array {
  return secrets.seal(password, subject(source));
}

/**
 * Decrypts the source's password and returns the credentials. Returns null if the source has none. Throws
 * FeedError SK-DS-401 if the password is unreadable.
 */
export function openCredentials(secrets: Secrets, { id, credentials }: DataSource) {
  if (credentials === null) return null;
  const { username, sealedPassword } = credentials;
  try {
    return { username, password: secrets.open(sealedPassword, subject(id)) };
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw new FeedError("SK-DS-401", "the stored password cannot be read; set basic_auth again", error);
  }
}

/** Returns the source with its password sealed with another key. Throws UnreadableSecretError. */
export function withResealedPassword(source: DataSource, from: Secrets, to: Secrets): DataSource {
  const { id, credentials } = source;
  if (credentials === null) return source;
  const password = from.open(credentials.sealedPassword, subject(id));
  return { ...source, credentials: { ...credentials, sealedPassword: sealPassword(to, id, password) } };
}

function subject(source: number): string {
  return `data source ${source}`;
}
