// Highlights a document: each requested field with a match gets a snippet, in which the matches are marked,
// and a list of the matched spellings. The text goes through the same analyser as documents and queries.
// marked-words.ts finds the query's words in it.
import type { AnalysisSettings, Token, Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { HighlightField, HighlightRequest } from "../protocol/fetch.js";
import { HIGHLIGHT_TEXT_BYTES } from "./limits.js";
import { type Mark, type MarkedTokens, MarkedWords } from "./marked-words.js";
import { chooseWindow } from "./snippet-window.js";
import { breakBefore } from "./text-breaks.js";
import { typedEnd } from "./typed-part.js";

interface FieldHighlight {
  snippet: string;
  matched_tokens: string[];
}

interface MarkedText extends MarkedTokens {
  text: Buffer;
  /** True if the value continues after the text. */
  cut: boolean;
}

const ELLIPSIS = "…";
const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export class Highlighter {
  readonly #request: HighlightRequest;
  readonly #analysis: AnalysisSettings;
  readonly #workbench: Workbench;
  readonly #words: MarkedWords;

  constructor(request: HighlightRequest, analysis: AnalysisSettings, workbench: Workbench) {
    this.#request = request;
    this.#analysis = analysis;
    this.#workbench = workbench;
    this.#words = new MarkedWords(request.words);
  }

  /**
   * Returns the document's highlights as JSON bytes: an object keyed by the requested fields that have a
   * match.
   */
  highlight(raw: Uint8Array): Uint8Array {
    const found: [name: string, FieldHighlight][] = [];
    const members = new Map(this.#workbench.topLevel(raw).map((member) => [member.name, member]));
    for (const field of this.#request.fields) {
      const member = members.get(field.name);
      if (member === undefined || (member.kind !== "string" && member.kind !== "array")) continue;
      const bytes = raw.subarray(member.valueStart, member.valueEnd);
      const highlight = this.#field(JSON.parse(Buffer.from(bytes).toString("utf8")), field);
      if (highlight !== null) found.push([field.name, highlight]);
    }
    const parts = found.map(([name, highlight]) => `${JSON.stringify(name)}:${JSON.stringify(highlight)}`);
    return Buffer.from(`{${parts.join(",")}}`);
  }

  /**
   * Returns a field's highlight. From an array, shows the element in which the most distinct query words
   * match. Null if nothing matches within the first HIGHLIGHT_TEXT_BYTES.
   */
  #field(value: unknown, field: HighlightField): FieldHighlight | null {
    let best: MarkedText | null = null;
    let bestWords = 0;
    let bytesLeft = HIGHLIGHT_TEXT_BYTES;
    const spellings = new Set<string>();
    for (const element of Array.isArray(value) ? value : [value]) {
      if (typeof element !== "string" || bytesLeft === 0) continue;
      const { text, cut } = textHead(element, bytesLeft);
      bytesLeft = cut ? 0 : bytesLeft - text.length;
      const marked = { text, cut, ...this.#words.mark(this.#workbench.analyse(text, this.#analysis), field) };
      for (const mark of marked.marks) spellings.add(spelling(marked, mark));
      const words = new Set(marked.marks.flatMap((mark) => mark.words)).size;
      if (words > bestWords) {
        best = marked;
        bestWords = words;
      }
    }
    return best === null ? null : { snippet: this.#snippet(best), matched_tokens: [...spellings] };
  }

  #snippet({ text, cut, tokens, marks }: MarkedText): string {
    const { snippetTokens, startTag, endTag } = this.#request;
    const window = chooseWindow(tokens.length, marks, snippetTokens, (i) => breakBefore(text, tokens, i));
    const toEnd = window.end === tokens.length;
    const from = window.first === 0 ? 0 : (tokens[window.first] as Token).start;
    const to = toEnd ? text.length : (tokens[window.end - 1] as Token).end;
    let out = window.first === 0 ? "" : ELLIPSIS;
    let at = from;
    for (const { first, last, typed } of marks) {
      if (first < window.first || last >= window.end) continue;
      const { start } = tokens[first] as Token;
      out += this.#escape(text.toString("utf8", at, start)) + startTag;
      at = this.#markEnd(text, tokens[last] as Token, typed);
      out += this.#escape(text.toString("utf8", start, at)) + endTag;
    }
    return out + this.#escape(text.toString("utf8", at, to)) + (toEnd && !cut ? "" : ELLIPSIS);
  }

  #markEnd(text: Buffer, last: Token, typed: string | null): number {
    return typed === null ? last.end : typedEnd(text, last, typed, this.#analysis, this.#workbench);
  }

  #escape(text: string): string {
    return this.#request.escapeHtml ? text.replace(/[&<>"']/g, (char) => HTML[char] as string) : text;
  }
}

function spelling({ text, tokens }: MarkedText, { first, matchedLast }: Mark): string {
  return text.toString("utf8", (tokens[first] as Token).start, (tokens[matchedLast] as Token).end);
}

/** Returns the value as UTF-8, cut between two code points if it is longer than `bytesMax`. */
function textHead(value: string, bytesMax: number): { text: Buffer; cut: boolean } {
  const text = Buffer.from(value, "utf8");
  if (text.length <= bytesMax) return { text, cut: false };
  let end = bytesMax;
  while (((text[end] as number) & 0xc0) === 0x80) end--;
  return { text: text.subarray(0, end), cut: true };
}
