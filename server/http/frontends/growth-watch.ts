// Notices that memory grows while a thread does not beat: one turn of the thread's event loop may be filling
// its heap. This is only a suspicion, because the memory measured is that of the whole process.

const LOOK_MS = 250;
/** Growth that is worth a question to the thread. */
const GROWTH_BYTES = 64 * 1024 * 1024;

export interface WatchedGrowth {
  /** The thread's number of beats so far. */
  readonly beats: () => number;
  /** Resident memory of the process. */
  readonly bytes: () => number;
  /** Called each time that memory has grown by GROWTH_BYTES since the last beat or call. */
  readonly onGrowth: () => void;
}

export class GrowthWatch {
  readonly #watched: WatchedGrowth;
  readonly #timer: NodeJS.Timeout;
  #beats: number;
  #bytes: number;

  constructor(watched: WatchedGrowth) {
    this.#watched = watched;
    this.#beats = watched.beats();
    this.#bytes = watched.bytes();
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { beats, bytes, onGrowth } = this.#watched;
    const [beatsNow, bytesNow] = [beats(), bytes()];
    const hasBeaten = beatsNow !== this.#beats;
    const hasGrown = bytesNow - this.#bytes > GROWTH_BYTES;
    this.#beats = beatsNow;
    if (hasBeaten || hasGrown || bytesNow < this.#bytes) this.#bytes = bytesNow;
    if (hasGrown && !hasBeaten) onGrowth();
  }
}
