// Secrets that tenants give the server, such as the passwords of feeds: sealed with a key that is made at the first need and
// kept in the data directory, readable by the owner only. Whoever has the catalog without that file cannot read them.
//   sealed  12 bytes nonce, 16 bytes tag, ciphertext (AES-256-GCM); the subject is the additional data
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectoryNow } from "./durable-files.js";

const FILE = "secrets.key";
const KEY_BYTES = 32;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The secret was sealed with another key, for another subject, or its bytes are damaged. */
export class UnreadableSecretError extends Error {
  override readonly name = "UnreadableSecretError";
}

export class Secrets {
  readonly #path: string;
  #key: Buffer | null = null;

  constructor(dataDir: string) {
    this.#path = join(dataDir, FILE);
  }

  /** `subject` says what the secret belongs to; only with the same subject can it be opened. */
  seal(secret: string, subject: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#ownKey(), nonce).setAAD(Buffer.from(subject));
    const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), text]));
  }

  /** Throws UnreadableSecretError. */
  open(sealed: Uint8Array, subject: string): string {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv(CIPHER, this.#ownKey(), nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(subject)).setAuthTag(tag);
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch (cause) {
      throw new UnreadableSecretError("a stored secret cannot be read", { cause });
    }
  }

  /** A key for another purpose, always the same one for a subject. */
  keyFor(subject: string): Uint8Array {
    return createHmac("sha256", this.#ownKey()).update(subject).digest();
  }

  #ownKey(): Buffer {
    this.#key ??= readKey(this.#path) ?? makeKey(this.#path);
    return this.#key;
  }
}

/** Null when there is no file. Throws for a file without a key. */
function readKey(path: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const key = Buffer.from(text, "hex");
  if (key.length === KEY_BYTES) return key;
  throw new Error(`${path} holds no key; restore it from a backup, or remove it and give all secrets again`);
}

/** The key is durable before anything is sealed with it. */
function makeKey(path: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  writeFileSync(`${path}.new`, `${key.toString("hex")}\n`, { mode: 0o600, flush: true });
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
  syncDirectoryNow(dirname(path));
  return key;
}
