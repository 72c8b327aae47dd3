// Builds the text to embed for a document: the values of some of its fields, one per line. Knows nothing
// about models.

import { asReady, type IndexRecord } from "../catalog/records/index-record.js";
import { resolvedSchemaOf } from "../catalog/schema/resolved-schema.js";
import { isObject } from "../ground/input/json-value.js";

/** Names of the fields that the index embeds. */
export function embeddedFields(record: IndexRecord): readonly string[] {
  return (
    record.settings.embedder.fields ??
    resolvedSchemaOf(asReady(record)).searchable.map(({ field }) => field.name)
  );
}

/**
 * Returns the text to embed for a document: the values of the given fields, joined by line breaks and
 * truncated. Lists keep their order. `json` is the document as stored. Values that are not text are skipped:
 * a field may contain values that were stored before its type was changed.
 */
export function documentText(json: Uint8Array, fields: readonly string[], charactersMax: number): string {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const document = JSON.parse(bytes.toString("utf8")) as unknown;
  if (!isObject(document)) return "";
  const texts: string[] = [];
  let characters = 0;
  for (const field of fields) {
    const value = Object.hasOwn(document, field) ? document[field] : undefined;
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one !== "string" || one.trim() === "") continue;
      texts.push(one.trim());
      characters += one.length;
      if (characters > charactersMax) break;
    }
  }
  return cutText(texts.join("\n"), charactersMax);
}

/** Truncates the text to `charactersMax` UTF-16 code units without splitting a surrogate pair. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, isHalf ? charactersMax - 1 : charactersMax);
}

/**
 * Returns the text without surrounding white space and without NUL characters, which some servers treat as
 * the end of the text. Invalid Unicode need not be handled, because it was refused on receipt.
 */
export function sendableText(text: string): string {
  return text.replaceAll("\0", " ").trim();
}
