// Which keys were used on the day at hand, so that the owner hears of each once.

const DAY_MS = 86_400_000;

export class UsedKeys {
  readonly #tell: (keyId: number, nowMs: number) => void;
  #day = 0;
  readonly #seen = new Set<number>();

  constructor(tell: (keyId: number, nowMs: number) => void) {
    this.#tell = tell;
  }

  /** `nowMs` since 1970. */
  used(keyId: number, nowMs: number): void {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#seen.clear();
    }
    if (this.#seen.has(keyId)) return;
    this.#seen.add(keyId);
    this.#tell(keyId, nowMs);
  }
}
