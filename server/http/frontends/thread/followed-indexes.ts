// The indexes that a front-end reads. When it first uses an index, it gets the index's shared memory
// (IndexStanding) from the owner. After that it asks the owner only to open the index if that is not loaded.
import type { Locations } from "../../../catalog/schema/placement.js";
import type { CatalogState } from "../../../catalog/state.js";
import { HeldGenerations } from "../../../fleet/reads/held-generations.js";
import { IndexHandle, type Memories } from "../../../fleet/reads/index-handle.js";
import { IndexStanding } from "../../../fleet/reads/index-standing.js";
import type { IndexHandles, IndexUse } from "../../../fleet/reads/reads.js";
import { SkeinError } from "../../../ground/errors.js";
import type { ThreadChannel } from "../channel.js";
import type { OwnerCalls } from "../messages.js";
import type { FollowedCatalog } from "./followed-catalog.js";

interface FollowedIndexesOptions {
  readonly place: number;
  readonly locations: Locations;
  readonly catalog: FollowedCatalog;
  readonly owner: ThreadChannel<OwnerCalls>;
  readonly memories: Memories;
}

interface Followed {
  readonly index: IndexHandle;
  readonly standing: IndexStanding;
  /** Number of uses that this thread has begun and not yet ended. */
  uses: number;
}

export class FollowedIndexes implements IndexHandles {
  readonly #options: FollowedIndexesOptions;
  readonly #followed = new Map<number, Followed>();
  /** Pending `attach` requests to the owner, by index uid. */
  readonly #asked = new Map<number, Promise<Followed>>();

  constructor(options: FollowedIndexesOptions) {
    this.#options = options;
    options.catalog.watch((state) => this.#follow(state));
  }

  documents(uid: number): number {
    return this.#followed.get(uid)?.index.documents ?? 0;
  }

  state(uid: number): IndexHandle {
    const followed = this.#followed.get(uid);
    if (followed !== undefined) return followed.index;
    throw new SkeinError("SK-SE-503", "the index is not open; retry in a moment", { retryAfter: 1 });
  }

  /**
   * Begins a use of the index. The index cannot be deleted until the returned function is called. Returns
   * synchronously if this front-end has already attached to the index, otherwise once the owner has answered.
   * Throws SkeinError, for example if the index cannot be opened.
   */
  begin(uid: number): (() => void) | Promise<() => void> {
    const followed = this.#followed.get(uid);
    return followed === undefined
      ? this.#ask(uid).then((one) => this.#begin(uid, one))
      : this.#begin(uid, followed);
  }

  async use(uid: number): Promise<IndexUse> {
    const followed = this.#followed.get(uid) ?? (await this.#ask(uid));
    const end = this.#begin(uid, followed);
    try {
      while (!followed.standing.isOpen) await this.#options.owner.ask("open", uid);
      return { state: followed.index, end };
    } catch (error) {
      end();
      throw error;
    }
  }

  open(uid: number): IndexHandle | undefined {
    const followed = this.#followed.get(uid);
    return followed?.standing.isOpen ? followed.index : undefined;
  }

  useOpen(uid: number): IndexUse | undefined {
    const followed = this.#followed.get(uid);
    if (followed === undefined) return undefined;
    const end = this.#begin(uid, followed);
    if (followed.standing.isOpen) return { state: followed.index, end };
    end();
    return undefined;
  }

  #begin(uid: number, followed: Followed): () => void {
    const { place } = this.#options;
    followed.uses++;
    followed.standing.beginUse(place);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      followed.uses--;
      followed.standing.endUse(place);
      if (followed.uses === 0) this.#forgetDeleted(uid, this.#options.catalog.state);
    };
  }

  #ask(uid: number): Promise<Followed> {
    const asked = this.#asked.get(uid);
    if (asked !== undefined) return asked;
    const asking = this.#attach(uid).finally(() => this.#asked.delete(uid));
    this.#asked.set(uid, asking);
    return asking;
  }

  async #attach(uid: number): Promise<Followed> {
    const { place, locations, catalog, owner, memories } = this.#options;
    const record = catalog.state.indexes.get(uid);
    if (record === undefined) throw new SkeinError("SK-SE-503", "the index no longer exists");
    const standing = new IndexStanding(await owner.ask("attach", uid));
    const generations = new HeldGenerations(standing, place);
    const present = catalog.state.indexes.get(uid) ?? record;
    const index = new IndexHandle(present, standing, generations, locations, memories);
    const followed = { index, standing, uses: 0 };
    this.#followed.set(uid, followed);
    // The owner has already begun one use on this thread's behalf. End it only after this turn of the event
    // loop: by then, the callers that waited for the owner's answer have begun their own uses.
    setImmediate(() => {
      standing.endUse(place);
      this.#forgetDeleted(uid, catalog.state); // the index may have been deleted while the owner answered
    });
    return followed;
  }

  #follow(state: CatalogState): void {
    for (const [uid, { index }] of this.#followed) {
      const record = state.indexes.get(uid);
      if (record !== undefined) index.record = record;
      else this.#forgetDeleted(uid, state);
    }
  }

  #forgetDeleted(uid: number, { indexes }: CatalogState): void {
    if (!indexes.has(uid) && this.#followed.get(uid)?.uses === 0) this.#followed.delete(uid);
  }
}
