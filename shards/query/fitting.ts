// The documents of an answer that may have only so many bytes: takes them in their order up to the first that does
// not fit.
import type { FetchedDocument } from "../protocol/fetch.js";

export class FittingDocuments {
  readonly documents: FetchedDocument[] = [];
  #bytesLeft: number;

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax;
  }

  /** Room for others. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** False when it does not fit; then none after it must be added. */
  add(document: FetchedDocument): boolean {
    this.#bytesLeft -= document.document.length + document.highlight.length;
    if (this.#bytesLeft < 0) return false;
    this.documents.push(document);
    return true;
  }
}
