// Records whether a feed was read to its real end. To a reader, a connection that breaks off between two
// lines looks like the end of the feed, unless something states where the feed ends: the answer's length or
// chunks (download.ts), the end of compressed data (inflate.ts), or the format (read-feed.ts).

export class FeedEnd {
  #isProven = false;

  prove(): void {
    this.#isProven = true;
  }

  get isProven(): boolean {
    return this.#isProven;
  }
}
