// Computes the most frequent searches and clicks, which ranking and suggestions favour.
import type { EventBlock } from "../rows/event-block.js";
import type { OpenEvent, OpenSearch } from "../rows/open-rows.js";
import type { RollupPart } from "../rows/rollup.js";
import type { MarkedBlock } from "../store/blocks.js";
import type { LogState } from "../store/log-state.js";
import type { QueryLog } from "../store/query-log.js";
import { DocumentTally } from "./documents-report.js";
import { TextTally } from "./text-report.js";
import { readWindow, type Window, type WindowReader } from "./window.js";

/** Most popular first. */
export interface Popular {
  /** Popular searches by their normalised text. Only texts that had results in most of their searches. */
  readonly queries: readonly { readonly query: string; readonly count: number }[];
  readonly documents: readonly { readonly document_id: string; readonly clicks: number }[];
}

const QUERIES_MAX = 1_000;
const DOCUMENTS_MAX = 1_000;
/** Texts with fewer searches are left out, because they may be private. */
const SEARCHES_MIN = 5;

class PopularTally implements WindowReader {
  readonly #texts: TextTally;
  readonly #documents: DocumentTally;

  constructor(state: LogState) {
    this.#texts = new TextTally(state);
    this.#documents = new DocumentTally(state);
  }

  openSearch(search: OpenSearch): void {
    this.#texts.openSearch(search);
  }

  openEvent(event: OpenEvent): void {
    this.#documents.openEvent(event);
  }

  searches(block: MarkedBlock, window: Window): void {
    this.#texts.searches(block, window);
  }

  events(block: EventBlock, window: Window): void {
    this.#documents.events(block, window);
  }

  rollup(part: RollupPart, bytes: Uint8Array): void {
    if (part === "texts") this.#texts.rollup(part, bytes);
    else this.#documents.rollup(part, bytes);
  }

  async popular(): Promise<Popular> {
    const queries = await this.#texts.popular(QUERIES_MAX, SEARCHES_MIN);
    const documents = await this.#documents.top(DOCUMENTS_MAX);
    return {
      queries: queries.map(({ query, count }) => ({ query, count })),
      documents: documents.map(({ document_id, clicks }) => ({ document_id, clicks })),
    };
  }
}

export async function popularOf(queryLog: QueryLog, log: number, window: Window): Promise<Popular> {
  const parts = ["texts", "documents"] as const;
  const tally = await readWindow(queryLog, log, window, parts, (state) => new PopularTally(state));
  return tally.popular();
}
