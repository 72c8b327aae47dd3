// Provides the bootstrap admin key. It comes from the configuration or is created at the first start, and is
// then kept in the data directory in a file that only its owner can read.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newKeyValue } from "./keys.js";

const FILE = "admin.key";
/** The form of a valid admin key. */
export const ADMIN_KEY_TEXT = /^[\x21-\x7e]{8,512}$/;
/**
 * A shorter key may be found by guessing. 16 random letters and digits cannot: at a million guesses a second,
 * they last for 10^14 years.
 */
export const UNGUESSABLE_LENGTH = 16;

export interface AdminKey {
  readonly value: string;
  /**
   * Path of the file if the key has just been created in it, so that the caller can print the path. Otherwise
   * null.
   */
  readonly createdIn: string | null;
}

/**
 * Returns the configured key, which is never written to disk. Without one, returns the stored key, creating
 * it at the first start. The data directory must exist. Throws if the file contains something other than a
 * key.
 */
export function findAdminKey(dataDir: string, configured: string | null): AdminKey {
  if (configured !== null) return { value: configured, createdIn: null };
  const path = join(dataDir, FILE);
  const kept = readKept(path);
  if (ADMIN_KEY_TEXT.test(kept)) return { value: kept, createdIn: null };
  if (kept !== "")
    throw new Error(`${path} contains no key; remove it to generate a new one, or set --admin-key`);
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
