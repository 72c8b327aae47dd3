// A front-end's catalog: a copy of the owner's state that applies each of the owner's changes.
import { apply, type CatalogState, type Command } from "../../../catalog/state.js";

export class FollowedCatalog {
  /** Damage is found only at startup, so it does not change. */
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
