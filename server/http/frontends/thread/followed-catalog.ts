// A front-end's copy of the catalog's state. The owner's changes are applied to it as they arrive.
import { apply, type CatalogState, type Command } from "../../../catalog/state.js";

export class FollowedCatalog {
  /** What was damaged in the owner's catalog at startup. Damage is found only then, so this never changes. */
  readonly damage: { readonly found: string[]; readonly indexes: number };
  readonly #watchers: ((state: CatalogState) => void)[] = [];
  #state: CatalogState;

  constructor({ state, damagedIndexes }: { readonly state: CatalogState; readonly damagedIndexes: number }) {
    this.#state = state;
    this.damage = { found: [], indexes: damagedIndexes };
  }

  get state(): CatalogState {
    return this.#state;
  }

  watch(watcher: (state: CatalogState) => void): void {
    this.#watchers.push(watcher);
  }

  /**
   * Applies one of the owner's commands. All commands arrive in order, so this copy's state becomes equal to
   * the owner's.
   */
  apply(command: Command): void {
    this.#state = apply(this.#state, command).state;
    for (const watcher of this.#watchers) watcher(this.#state);
  }
}
