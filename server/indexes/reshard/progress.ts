// Logs the progress of a change of the number of shards: at the start, every few seconds, after each index,
// and at the end.
import type { Logger } from "../../ground/log.js";

const LINE_MS = 2_000;

export class ReshardProgress {
  readonly #log: Logger;
  readonly #from: number;
  readonly #to: number;
  #expected = 0;
  #before = 0;
  #moved = 0;
  #begun = 0;
  #said = 0;

  constructor(log: Logger, from: number, to: number) {
    this.#log = log;
    this.#from = from;
    this.#to = to;
  }

  /**
   * Registers an index with this many documents. `done` is true if an earlier start has already copied them.
   */
  expect(documents: number, done: boolean): void {
    this.#expected += documents;
    if (done) this.#before += documents;
  }

  begin(): void {
    this.#begun = performance.now();
    this.#say("redistributing the documents");
  }

  moved(documents: number): void {
    this.#moved += documents;
    if (performance.now() - this.#said >= LINE_MS) this.#say("redistributing the documents");
  }

  finished(index: string): void {
    this.#say("an index is redistributed", { index });
  }

  end(): void {
    this.#say("the documents are redistributed");
  }

  #say(message: string, more: object = {}): void {
    this.#said = performance.now();
    const seconds = (this.#said - this.#begun) / 1000;
    const documents = this.#before + this.#moved;
    const percent = this.#expected === 0 ? 100 : Math.floor((documents / this.#expected) * 1000) / 10;
    const perSecond = seconds === 0 ? 0 : Math.round(this.#moved / seconds);
    const facts = { from: this.#from, to: this.#to, documents, of: this.#expected, percent, perSecond };
    this.#log.info({ ...facts, ...more }, message);
  }
}
