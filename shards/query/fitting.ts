// Collects documents for an answer of limited size, in order, up to the first one that does not fit.
import type { FetchedDocument } from "../protocol/fetch.js";

export class FittingDocuments {
  readonly documents: FetchedDocument[] = [];
  #bytesLeft: number;

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax;
  }

  /** Bytes left for more documents. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Returns false if the document does not fit. No more may be added after that. */
  add(document: FetchedDocument): boolean {
    this.#bytesLeft -= document.document.length + document.highlight.length;
    if (this.#bytesLeft < 0) return false;
    this.documents.push(document);
    return true;
  }
}
