// Computes the report on the documents with the most clicks and conversions.

import type { EventBlock } from "../rows/event-block.js";
import { VALUE_UNITS } from "../rows/journal.js";
import type { OpenEvent } from "../rows/open-rows.js";
import { type DocumentCounts, Rollup, type RollupPart } from "../rows/rollup.js";
import type { Dictionary } from "../store/dictionary.js";
import type { LogState } from "../store/log-state.js";
import { rankedWords } from "./ranked-words.js";
import type { Window, WindowReader } from "./window.js";

export interface DocumentRow {
  readonly document_id: string;
  readonly clicks: number;
  readonly conversions: number;
  readonly conversion_value: number;
}

export class DocumentTally implements WindowReader {
  readonly #documents: Dictionary;
  readonly #rollup = new Rollup(["documents"]);

  constructor({ documents }: LogState) {
    this.#documents = documents;
  }

  openEvent({ at, type, document, value }: OpenEvent): void {
    this.#rollup.addEvent(at, type, document, value);
  }

  events(block: EventBlock, { fromMs, toMs }: Window): void {
    this.#rollup.addEvents(block, fromMs, toMs);
  }

  rollup(part: RollupPart, bytes: Uint8Array): void {
    this.#rollup.addPart(part, bytes);
  }

  /**
   * Returns the documents with the most clicks. Equal numbers of clicks are ordered by conversions, most
   * first, then by id.
   */
  async top(limit: number): Promise<DocumentRow[]> {
    const counts = this.#rollup.documents;
    const compare = (a: number, b: number): number => {
      const [one, other] = [counts.get(a) as DocumentCounts, counts.get(b) as DocumentCounts];
      return other.clicks - one.clicks || other.conversions - one.conversions;
    };
    const numbers = [...counts.keys()].sort(compare);
    const last = numbers[Math.min(limit, numbers.length) - 1];
    const sure = last === undefined ? [] : numbers.filter((number) => compare(number, last) < 0);
    const tied = last === undefined ? [] : numbers.filter((number) => compare(number, last) === 0);
    const rows = await rankedWords(this.#documents, { sure, tied, limit, compare });
    return rows.map(({ word, number }) => {
      const { clicks, conversions, value } = counts.get(number) as DocumentCounts;
      return { document_id: word, clicks, conversions, conversion_value: value / VALUE_UNITS };
    });
  }
}
