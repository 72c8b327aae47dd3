// Collects documents in order for an answer of limited size, and stops at the first document that does not
// fit.
import type { FetchedDocument } from "../protocol/fetch.js";

export class FittingDocuments {
  readonly documents: FetchedDocument[] = [];
  #bytesLeft: number;

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax;
  }

  /** Number of bytes left for further documents. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Returns false if the document does not fit. The caller must not add further documents after that. */
  add(document: FetchedDocument): boolean {
    this.#bytesLeft -= document.document.length + document.highlight.length;
    if (this.#bytesLeft < 0) return false;
    this.documents.push(document);
    return true;
  }
}
