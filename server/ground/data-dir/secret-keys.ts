// The file with the data directory's keys, and how they are rotated.
//
//   line 1  64 hexadecimal digits: the key that seals secrets
//   line 2  64 hexadecimal digits: the pseudonym key; absent until line 1 is first rotated, and derived
//           from line 1 while absent
import { createHmac, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow } from "./durable-files.js";

export const SECRETS_FILE = "secrets.key";
/** File with the new keys during a rotation, whose last step renames it to SECRETS_FILE. */
export const NEXT_SECRETS_FILE = "secrets.key.next";
/** ON DISK - the pseudonyms in query logs depend on this text. */
const PSEUDONYMS = "users of the query log";
const KEY_BYTES = 32;
const FILE_TEXT = /^([0-9a-f]{64})(?:\n([0-9a-f]{64}))?$/i;

export interface SecretKeys {
  readonly sealing: Buffer;
  /**
   * The key from which people's pseudonyms in the query log are computed. Never changes, so that a person
   * keeps the same pseudonym.
   */
  readonly pseudonyms: Buffer;
}

export function makeKeys(): SecretKeys {
  const sealing = randomBytes(KEY_BYTES);
  return { sealing, pseudonyms: pseudonymsOf(sealing) };
}

/** Reads the keys. Returns null if there is no file. Throws if the file does not contain a key. */
export function readKeys(path: string): SecretKeys | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const [, first, second] = FILE_TEXT.exec(text) ?? [];
  if (first === undefined)
    throw new Error(
      `${path} contains no key; restore it from a backup, or remove it and set all secrets again`,
    );
  const sealing = Buffer.from(first, "hex");
  return { sealing, pseudonyms: second === undefined ? pseudonymsOf(sealing) : Buffer.from(second, "hex") };
}

/** Replaces the file with one that contains these keys. They are durable when this returns. */
export function writeKeys(path: string, { sealing, pseudonyms }: SecretKeys): void {
  const keys = pseudonyms.equals(pseudonymsOf(sealing)) ? [sealing] : [sealing, pseudonyms];
  const text = keys.map((key) => `${key.toString("hex")}\n`).join("");
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
  syncDirectoryNow(dirname(path));
}

function pseudonymsOf(sealing: Buffer): Buffer {
  return createHmac("sha256", sealing).update(PSEUDONYMS).digest();
}
