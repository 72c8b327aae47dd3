// Remembers the keys used on the current day, so that each is reported to the owner only once per day.

const DAY_MS = 86_400_000;

export class UsedKeys {
  readonly #tell: (keyId: number, nowMs: number) => void;
  #day = Number.NaN;
  readonly #seen = new Set<number>();

  constructor(tell: (keyId: number, nowMs: number) => void) {
    this.#tell = tell;
  }

  /** Reports the key if it has not been used yet today. `nowMs` is the Unix time in milliseconds. */
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
