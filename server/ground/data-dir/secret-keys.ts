// The file of the keys of the data directory, and how one key takes the place of another.
//   line 1  64 hexadecimal digits: the key with which secrets are sealed
//   line 2  64 hexadecimal digits: the key of pseudonyms; only once the first one was changed. Until then it follows from that.
import { createHmac, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow } from "./durable-files.js";

export const SECRETS_FILE = "secrets.key";
/** Keys that shall take the place of those of SECRETS_FILE. */
export const NEXT_SECRETS_FILE = "secrets.key.next";
/** ON DISK - the pseudonyms in query logs depend on it. */
const PSEUDONYMS = "users of the query log";
const KEY_BYTES = 32;
const FILE_TEXT = /^([0-9a-f]{64})(?:\n([0-9a-f]{64}))?$/i;

export interface SecretKeys {
  readonly sealing: Buffer;
  /** Of the names of people in the query log. It never changes, so that the log knows them again. */
  readonly pseudonyms: Buffer;
}

export function makeKeys(): SecretKeys {
  const sealing = randomBytes(KEY_BYTES);
  return { sealing, pseudonyms: pseudonymsOf(sealing) };
}

/** Null when there is no file. Throws for a file without a key. */
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
      `${path} holds no key; restore it from a backup, or remove it and give all secrets again`,
    );
  const sealing = Buffer.from(first, "hex");
  return { sealing, pseudonyms: second === undefined ? pseudonymsOf(sealing) : Buffer.from(second, "hex") };
}

/** Replaces the file; durable when it returns. */
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
