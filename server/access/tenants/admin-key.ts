// The bootstrap admin key: given by the configuration, or made at the first start and kept in the data
// directory, readable by the owner only.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newKeyValue } from "./keys.js";

const FILE = "admin.key";
/** What an admin key may be. */
export const ADMIN_KEY_TEXT = /^[\x21-\x7e]{8,512}$/;

export interface AdminKey {
  readonly value: string;
  /** The file it was written to just now: the moment to show it. */
  readonly createdIn: string | null;
}

/** Requires that the data directory exists. A configured key is used as it is and not written. Throws for a file without a key. */
export function findAdminKey(dataDir: string, configured: string | null): AdminKey {
  if (configured !== null) return { value: configured, createdIn: null };
  const path = join(dataDir, FILE);
  const kept = readKept(path);
  if (ADMIN_KEY_TEXT.test(kept)) return { value: kept, createdIn: null };
  if (kept !== "")
    throw new Error(`${path} holds no key; remove it to have a new one made, or set --admin-key`);
  const value = newKeyValue();
  writeFileSync(path, `${value}\n`, { mode: 0o600, flush: true });
  chmodSync(path, 0o600);
  return { value, createdIn: path };
}

function readKept(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
