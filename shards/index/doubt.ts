// Writes to several shards that this shard has stored without knowing whether the others have. If the server
// ends before all of them have, the next start takes the write back (take-back.ts). This needs the rows and
// the bytes of the documents that the write replaced or deleted, so both are kept until the write is known to
// be published. In an index that lives in one shard, no write is ever in doubt.
import type { DeletedRows } from "../segments/deleted-rows.js";
import type { DoubtfulWrite, Manifest } from "../segments/manifest.js";

type Deleted = ReadonlyMap<number, DeletedRows>;

export class Doubt {
  #published: number;
  #writes: readonly DoubtfulWrite[];
  /** Number of writes in doubt according to the stored manifest. */
  #stored: number;
  /** The deleted rows before each commit since the first write in doubt, ascending by generation. */
  readonly #before: { generation: number; deleted: Deleted }[] = [];

  /** Continues from the stored manifest. `published`: see OpenRequest. */
  constructor(published = 0, stored?: Pick<Manifest, "generation" | "published" | "inDoubt">) {
    this.#published = Math.min(published, stored?.published ?? 0);
    this.#writes = stored?.inDoubt ?? [];
    this.#stored = this.#writes.length;
    if (this.#stored === 0) return;
    this.#before.push({ generation: stored!.generation, deleted: new Map() });
    this.learn(published);
  }

  /** Every write up to this generation is known to be published. */
  get published(): number {
    return this.#published;
  }

  /** Generation of the first write in doubt; Infinity if there is none. */
  get first(): number {
    return this.#writes[0]?.generation ?? Number.POSITIVE_INFINITY;
  }

  /** True if the stored manifest names writes that are no longer in doubt. */
  get hasCleared(): boolean {
    return this.#stored > this.#writes.length;
  }

  /** Records that every write up to `published` is published. */
  learn(published: number): void {
    if (published <= this.#published) return;
    this.#published = published;
    this.#writes = this.#writes.filter(({ generation }) => generation > published);
    while (this.#before.length > 0 && this.#before[0]!.generation < this.first) this.#before.shift();
  }

  /** Like `learn`, but does nothing if no write is in doubt, so that reads can call it. */
  seen(published: number): void {
    if (this.#writes.length > 0) this.learn(published);
  }

  /** The manifest's members if a commit adds these writes. */
  with(added: readonly DoubtfulWrite[]): Pick<Manifest, "published" | "inDoubt"> {
    return { published: this.#published, inDoubt: [...this.#writes, ...added] };
  }

  /**
   * Call when that manifest is stored. `generation` is the manifest's, `before` the rows deleted before the
   * commit.
   */
  committed(added: readonly DoubtfulWrite[], generation: number, before: Deleted): void {
    this.#writes = [...this.#writes, ...added];
    this.#stored = this.#writes.length;
    if (this.#stored > 0 && generation !== this.#before.at(-1)?.generation)
      this.#before.push({ generation, deleted: before });
  }

  /**
   * The rows of a segment that stay deleted whatever is taken back; undefined if there are none. `now`: all
   * of its deleted rows.
   */
  surelyDeleted(segment: number, now: DeletedRows | undefined): DeletedRows | undefined {
    return this.#before.length === 0 ? now : this.#before[0]!.deleted.get(segment);
  }
}
