// Splits text in scripts without spaces (Chinese, Japanese, Thai ...) into words. The index contains single
// characters with their positions, so it does not depend on word boundaries. Only queries are split, using
// the dictionaries of Node's ICU (dictionary-based breaks of Unicode Standard Annex 29).
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";

/** Created on first use, because ICU takes 11 ms to open its dictionaries. Keeps no text between calls. */
let segmenter: Intl.Segmenter | null = null;

/**
 * Groups tokens into words, in order. Only adjacent tokens with nothing between them, such as Chinese or Thai
 * characters, can form a word together; any other token is a word of its own.
 */
export function wordsOfTouchingTokens(text: string, tokens: readonly Token[]): Token[][] {
  const words: Token[][] = [];
  let bytes: Buffer | null = null;
  for (let first = 0; first < tokens.length; ) {
    let end = first + 1;
    while (end < tokens.length && tokens[end]?.start === tokens[end - 1]?.end) end++;
    const group = tokens.slice(first, end);
    if (group.length === 1) {
      words.push(group);
    } else {
      bytes ??= Buffer.from(text);
      words.push(...cutGroup(bytes, group));
    }
    first = end;
  }
  return words;
}

function cutGroup(bytes: Buffer, group: readonly Token[]): Token[][] {
  const [first, last] = [group[0] as Token, group.at(-1) as Token];
  const words: Token[][] = [];
  let next = 0;
  let end = first.start;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  for (const { segment } of segmenter.segment(bytes.toString("utf8", first.start, last.end))) {
    end += Buffer.byteLength(segment);
    const word: Token[] = [];
    while (next < group.length && (group[next] as Token).start < end) word.push(group[next++] as Token);
    if (word.length > 0) words.push(word);
  }
  return words;
}
