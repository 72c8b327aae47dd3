// Detects that a thread hangs. The watched thread proves that it is alive by incrementing a counter in shared
// memory; each increment is called a beat.

/**
 * A thread counts as hanging if it has not beaten for this many checks in a row. One check without a beat
 * proves nothing, because the watching thread itself may have been paused.
 */
const MISSED_MAX = 10;
/**
 * Used instead of MISSED_MAX before the first beat. It is higher because the thread first has to load its
 * code, which takes long on a busy machine.
 */
const MISSED_MAX_AT_START = 60;

export interface Watched {
  /** The number of beats so far. */
  readonly beats: () => number;
  /** False while the thread is not expected to beat. */
  readonly mustBeat: () => boolean;
  /**
   * Called once per hang. A hang is over after a beat, after `mustBeat` has returned false, or after `begin`.
   */
  readonly onHang: () => void;
}

export class Watchdog {
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  #beats = 0;
  #hasBeaten = false;
  #missed = 0;

  /** After its first beat, the thread may go without one for at most `hangMsMax` milliseconds. */
  constructor(hangMsMax: number, watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), hangMsMax / MISSED_MAX).unref();
    this.begin();
  }

  /** Starts over for a new thread. */
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
