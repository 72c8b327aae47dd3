// Secrets that tenants entrust to the server, such as feed passwords. They are sealed with a key that is
// created when first needed and stored in the data directory, readable only by its owner. Without the key
// file, the catalog does not reveal them.
//
//   sealed  12 bytes nonce, 16 bytes tag, ciphertext (AES-256-GCM); the subject is the additional data
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeKeys, readKeys, SECRETS_FILE, type SecretKeys, writeKeys } from "./secret-keys.js";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The secret was sealed with another key or for another subject, or its bytes are damaged. */
export class UnreadableSecretError extends Error {
  override readonly name = "UnreadableSecretError";
}

export class Secrets {
  readonly #path: string;
  #keys: SecretKeys | null = null;

  /** `file` is the key file's name in the data directory. */
  constructor(dataDir: string, file = SECRETS_FILE) {
    this.#path = join(dataDir, file);
  }

  /**
   * Encrypts the secret for `subject`, which identifies its owner. Only `open` with the same subject can
   * decrypt it.
   */
  seal(secret: string, subject: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#ownKeys().sealing, nonce).setAAD(Buffer.from(subject));
    const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), text]));
  }

  /** Decrypts a secret. Throws UnreadableSecretError. */
  open(sealed: Uint8Array, subject: string): string {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv(CIPHER, this.#ownKeys().sealing, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(subject)).setAuthTag(tag);
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch (cause) {
      throw new UnreadableSecretError("a stored secret cannot be read", { cause });
    }
  }

  /** The key from which people's pseudonyms in the query log are computed. */
  get pseudonymKey(): Uint8Array {
    return this.#ownKeys().pseudonyms;
  }

  #ownKeys(): SecretKeys {
    if (this.#keys !== null) return this.#keys;
    let keys = readKeys(this.#path);
    if (keys === null) {
      keys = makeKeys();
      writeKeys(this.#path, keys); // the keys are durable before they seal anything
    }
    this.#keys = keys;
    return keys;
  }
}
