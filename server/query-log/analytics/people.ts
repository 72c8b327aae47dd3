// Stand-ins for users and sessions in the query log: keyed hashes of 48 bits. They cannot be traced back
// without the key in the data directory, and the same name has different hashes for different tenants.
import { createHmac } from "node:crypto";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { type Asker, NOBODY, type Person } from "../rows/journal.js";

/** Maximum cached hashes. */
const KNOWN_MAX = 20_000;
const HASH_BYTES = 6;
const UNKNOWN: Asker = { user: NOBODY, session: NOBODY };

/** Who a query says is asking, and whether it is logged. */
export interface AskedBy {
  /** Empty when the query does not say. */
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

  /** An empty name is nobody. */
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
