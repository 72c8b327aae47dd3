// The items read from a feed, whatever its format. Each has either a plain object or the reason why it could
// not be read. Knows nothing about the index.

import type { FeedFormat } from "../../catalog/records/data-source.js";
import { FeedError } from "../../ground/errors.js";

export interface FeedOptions {
  readonly format: FeedFormat;
  readonly itemsPath: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  readonly itemBytesMax: number;
  /** For CSV, the number of items per group; the last group may have fewer. */
  readonly rowsPerGroup?: number;
}

/**
 * An item's values. For CSV they are strings; for XML, strings or nested objects and arrays of strings; for
 * JSON, any JSON value, with integers beyond 2^53 as bigints.
 */
export type FeedObject = Readonly<Record<string, unknown>>;

export interface FeedItem {
  /** Position in the feed, from 1. */
  readonly at: number;
  readonly value: FeedObject | null;
  /** Why there is no value. One item's problem does not stop the rest of the feed. */
  readonly problem?: string;
}

/** Maximum number of bytes in UTF-8 per UTF-16 code unit. */
const BYTES_PER_UNIT_MAX = 3;

/** True if the texts together have more than `bytesMax` bytes in UTF-8. */
export function isLarger(texts: readonly string[], bytesMax: number): boolean {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  // Bytes are counted only if the number of code units does not decide.
  if (units * BYTES_PER_UNIT_MAX <= bytesMax) return false;
  return units > bytesMax || texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > bytesMax;
}

export function htmlPage(): FeedError {
  return new FeedError("SK-DS-422", "the feed is an HTML page; does its address need a login?");
}

/**
 * Sets a member of an object under construction, whatever its name. Plain objects are fast, but assigning to
 * `__proto__` would not create a member.
 */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
