// Computes pseudonyms for users and sessions in the query log. They are keyed 48-bit hashes; without the key,
// which is in the data directory, they cannot be traced back. The same name has different hashes in different
// tenants.
import { createHmac } from "node:crypto";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { type Asker, NOBODY, type Person } from "../rows/journal.js";

/** Maximum number of cached hashes. */
const KNOWN_MAX = 20_000;
const HASH_BYTES = 6;
const UNKNOWN: Asker = { user: NOBODY, session: NOBODY };

/** Who sent a query, and whether it may be logged. */
export interface AskedBy {
  /** Empty if the query names no user. */
  readonly user: string;
  readonly session: string;
  readonly logged: boolean;
}

export interface NamedPerson {
  readonly kind: "user" | "session";
  readonly name: string;
}

export class People {
  readonly #key: Uint8Array;
  readonly #known = new ClockCache<string, Person>(KNOWN_MAX);

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Returns the user's and the session's pseudonyms; NOBODY for an empty name. */
  asker(tenant: number, { user, session }: { readonly user: string; readonly session: string }): Asker {
    if (user === "" && session === "") return UNKNOWN;
    return {
      user: this.person(tenant, { kind: "user", name: user }),
      session: this.person(tenant, { kind: "session", name: session }),
    };
  }

  person(tenant: number, { kind, name }: NamedPerson): Person {
    return name === "" ? NOBODY : this.#hash(`${tenant} ${kind} ${name}`);
  }

  #hash(name: string): Person {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const digest = createHmac("sha256", this.#key).update(name).digest();
    const person = digest.readUIntLE(0, HASH_BYTES) || NOBODY + 1;
    this.#known.set(name, person);
    return person;
  }
}
