// Watches one thread by the beats that it counts in shared memory while it is alive.

/**
 * A thread hangs if it misses this many looks in a row. One is not enough: the watching thread may have
 * paused itself.
 */
const MISSED_MAX = 10;
/** The same before its first beat, since it loads its code first, which takes long on a busy machine. */
const MISSED_MAX_AT_START = 60;

export interface Watched {
  /** How often the thread has beaten. */
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

  /** `hangMsMax`: how long a thread that has beaten may be silent. */
  constructor(hangMsMax: number, watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), hangMsMax / MISSED_MAX).unref();
    this.begin();
  }

  /** Another thread has taken the place of the one watched. */
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
