// A request's place in a line, kept until its turn begins or its life ends.
import type { LifeMember, RequestLife } from "./request-life.js";

export class WaitingTurn implements LifeMember {
  readonly life: RequestLife;
  readonly #begin: () => void;
  readonly #giveUp: (reason: Error) => void;

  /** Exactly one of `begin` and `giveUp` is called, once. */
  constructor(life: RequestLife, begin: () => void, giveUp: (reason: Error) => void) {
    this.life = life;
    this.#begin = begin;
    this.#giveUp = giveUp;
    life.join(this);
  }

  /** Begins the turn. Returns false if the life has ended, so that nobody wants the turn. */
  begin(): boolean {
    if (this.life.over) return false;
    this.life.leave(this);
    this.#begin();
    return true;
  }

  lifeEnded(reason: Error): void {
    this.#giveUp(reason);
  }
}
