// Remembers which indexes have stored data that a shard could not read.
import type { ShardError } from "../../../shards/protocol/errors.js";
import { uidOfData } from "../../catalog/schema/placement.js";
import type { Logger } from "../../ground/log.js";
import { damageSentence } from "../threads/shard-errors.js";

export class Damage {
  readonly #log: Logger;
  /** Message that tells clients about an index's damage, by uid. Made from the first report. */
  readonly #sentences = new Map<number, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  get uids(): Iterable<number> {
    return this.#sentences.keys();
  }

  /** A sentence about the index's damage; undefined if none has been found. */
  of(uid: number): string | undefined {
    return this.#sentences.get(uid);
  }

  met(shard: number, error: ShardError, nameOf: (uid: number) => string | undefined): void {
    if (error.uid === undefined) return;
    const uid = uidOfData(error.uid);
    if (this.#sentences.has(uid)) return;
    this.#sentences.set(uid, damageSentence(error));
    const found = error.message;
    this.#log.error({ index: nameOf(uid), uid, shard, found }, "stored data of an index cannot be read");
  }

  /** Call when the index has been deleted. */
  forget(uid: number): void {
    this.#sentences.delete(uid);
  }
}
