// Highlights one document as a shard does, for tests.
import type { AnalysisSettings, Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import type { HighlightRequest, HighlightWord } from "../../../../shards/protocol/fetch.js";
import { Highlighter } from "../../../../shards/query/highlight.js";

export type Highlights = Record<string, { snippet: string; matched_tokens: string[] }>;

export function word(stands: Partial<HighlightWord>): HighlightWord {
  return { terms: [], prefixes: [], typos: [], infixes: [], sequences: [], ...stands };
}

export function field(name: string, more: { language?: number; sku?: boolean; infix?: boolean } = {}) {
  return { name, language: 0, sku: false, infix: false, ...more };
}

/** Highlights all of the document's fields and shows them in full, unless `request` says otherwise. */
export function highlighted(
  workbench: Workbench,
  document: Record<string, unknown>,
  request: Partial<HighlightRequest>,
  analysis: AnalysisSettings = PLAIN_ANALYSIS,
): Highlights {
  const complete: HighlightRequest = {
    fields: Object.keys(document).map((name) => field(name)),
    words: [],
    snippetTokens: 0,
    startTag: "<mark>",
    endTag: "</mark>",
    escapeHtml: false,
    ...request,
  };
  const raw = Buffer.from(JSON.stringify(document));
  const json = new Highlighter(complete, analysis, workbench).highlight(raw);
  return JSON.parse(Buffer.from(json).toString()) as Highlights;
}
