// Marks the words of a query in stored text: per asked field a snippet and the matched spellings. The text runs
// through the same analyser as documents and queries, so what is marked is what was matched.
import type { AnalysisSettings, Token, Workbench } from "../../engine-wasm/host/workbench.js";
import type { HighlightRequest } from "../protocol/fetch.js";
import { HIGHLIGHT_TEXT_BYTES } from "./limits.js";
import { chooseWindow } from "./snippet-window.js";

interface FieldHighlight {
  snippet: string;
  matched_tokens: string[];
}

/** A matched token: how many bytes of it are marked, from its start. */
interface Mark {
  token: number;
  bytes: number;
  /** What the token matched; a snippet shows as many different ones as possible. */
  word: string;
}

interface MarkedText {
  text: Buffer;
  tokens: Token[];
  marks: Mark[];
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
  readonly #terms: ReadonlySet<string>;
  /** Longest first. */
  readonly #prefixes: readonly string[];

  constructor(request: HighlightRequest, analysis: AnalysisSettings, workbench: Workbench) {
    this.#request = request;
    this.#analysis = analysis;
    this.#workbench = workbench;
    this.#terms = new Set(request.terms);
    this.#prefixes = request.prefixes.filter((prefix) => prefix !== "").sort((a, b) => b.length - a.length);
  }

  /** JSON bytes of the highlights of a document: an object keyed by those asked fields that have a match. */
  highlight(raw: Uint8Array): Uint8Array {
    const found: [name: string, FieldHighlight][] = [];
    const members = new Map(this.#workbench.topLevel(raw).map((member) => [member.name, member]));
    for (const name of this.#request.fields) {
      const member = members.get(name);
      if (member === undefined || (member.kind !== "string" && member.kind !== "array")) continue;
      const bytes = raw.subarray(member.valueStart, member.valueEnd);
      const highlight = this.#field(JSON.parse(Buffer.from(bytes).toString("utf8")));
      if (highlight !== null) found.push([name, highlight]);
    }
    const parts = found.map(([name, highlight]) => `${JSON.stringify(name)}:${JSON.stringify(highlight)}`);
    return Buffer.from(`{${parts.join(",")}}`);
  }

  /** A field's highlight, of the element with the most matched words; null without a match. */
  #field(value: unknown): FieldHighlight | null {
    const texts = Array.isArray(value) ? value : [value];
    let best: MarkedText | null = null;
    let bestWords = 0;
    const spellings = new Set<string>();
    for (const text of texts) {
      if (typeof text !== "string") continue;
      const marked = this.#mark(text);
      for (const { token } of marked.marks) spellings.add(spelling(marked, token));
      const words = new Set(marked.marks.map(({ word }) => word)).size;
      if (words > bestWords) {
        best = marked;
        bestWords = words;
      }
    }
    return best === null ? null : { snippet: this.#snippet(best), matched_tokens: [...spellings] };
  }

  #mark(value: string): MarkedText {
    const text = textHead(value);
    const tokens = this.#workbench.analyse(text, this.#analysis).filter(({ parts }) => parts === 1);
    const marks: Mark[] = [];
    for (const [i, token] of tokens.entries()) {
      if (this.#terms.has(token.term)) {
        marks.push({ token: i, bytes: token.end - token.start, word: token.term });
        continue;
      }
      const prefix = this.#prefixes.find((one) => token.term.startsWith(one));
      if (prefix !== undefined)
        marks.push({ token: i, bytes: typedBytes(text, token, prefix), word: prefix });
    }
    return { text, tokens, marks };
  }

  #snippet({ text, tokens, marks }: MarkedText): string {
    const { snippetTokens, startTag, endTag } = this.#request;
    const window = chooseWindow(tokens.length, marks, snippetTokens);
    const from = window.first === 0 ? 0 : tokens[window.first]!.start;
    const to = window.end === tokens.length ? text.length : tokens[window.end - 1]!.end;
    let out = window.first === 0 ? "" : ELLIPSIS;
    let at = from;
    for (const { token, bytes } of marks) {
      if (token < window.first || token >= window.end) continue;
      const { start } = tokens[token]!;
      out += this.#escape(text.toString("utf8", at, start)) + startTag;
      at = start + bytes;
      out += this.#escape(text.toString("utf8", start, at)) + endTag;
    }
    return out + this.#escape(text.toString("utf8", at, to)) + (window.end === tokens.length ? "" : ELLIPSIS);
  }

  #escape(text: string): string {
    return this.#request.escapeHtml ? text.replace(/[&<>"']/g, (char) => HTML[char]!) : text;
  }
}

function spelling({ text, tokens }: MarkedText, token: number): string {
  const { start, end } = tokens[token]!;
  return text.toString("utf8", start, end);
}

/** The text's UTF-8, cut at HIGHLIGHT_TEXT_BYTES between two code points. */
function textHead(value: string): Buffer {
  const text = Buffer.from(value, "utf8");
  if (text.length <= HIGHLIGHT_TEXT_BYTES) return text;
  let end = HIGHLIGHT_TEXT_BYTES;
  while ((text[end]! & 0xc0) === 0x80) end--;
  return text.subarray(0, end);
}

/**
 * Bytes of the token that the prefix stands for. Folding may have changed the number of code points; then it is
 * not known which of them were typed, and the whole token is marked.
 */
function typedBytes(text: Buffer, { start, end, term }: Token, prefix: string): number {
  const letters = [...text.toString("utf8", start, end)];
  if (letters.length !== [...term].length) return end - start;
  return Buffer.byteLength(letters.slice(0, [...prefix].length).join(""), "utf8");
}
