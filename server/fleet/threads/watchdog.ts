// Watches one thread through the beats that it counts in shared memory while it is alive.

/**
 * A thread hangs if it misses this many checks in a row. One is not enough: the watching thread itself may
 * have been paused.
 */
const MISSED_MAX = 10;
/** The same before the first beat: the thread loads its code first, which takes long on a busy machine. */
const MISSED_MAX_AT_START = 60;

export interface Watched {
  /** Number of beats so far. */
  readonly beats: () => number;
  /** False while the thread may be silent. */
  readonly mustBeat: () => boolean;
  /** Called once when the thread hangs, and again only after another beat or `begin`. */
  readonly onHang: () => void;
}

export class Watchdog {
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  #beats = 0;
  #hasBeaten = false;
  #missed = 0;

  /** `hangMsMax`: maximum time (ms) without a beat for a thread that has beaten before. */
  constructor(hangMsMax: number, watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), hangMsMax / MISSED_MAX).unref();
    this.begin();
  }

  /** Starts over for a new thread that has replaced the watched one. */
  begin(): void {
    this.#beats = this.#watched.beats();
    this.#hasBeaten = false;
    this.#missed = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const beats = this.#watched.beats();
    const hasBeaten = beats !== this.#beats;
    this.#beats = beats;
    if (hasBeaten) this.#hasBeaten = true;
    this.#missed = hasBeaten || !this.#watched.mustBeat() ? 0 : this.#missed + 1;
    if (this.#missed === (this.#hasBeaten ? MISSED_MAX : MISSED_MAX_AT_START)) this.#watched.onHang();
  }
}
