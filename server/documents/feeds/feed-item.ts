// The result of reading a feed: items, each a plain object or the reason why there is none. Independent of
// the format of the feed and of the index.

import type { FeedFormat } from "../../catalog/records/data-source.js";
import { FeedError } from "../../ground/errors.js";

export interface FeedOptions {
  readonly format: FeedFormat;
  readonly itemsPath: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  readonly itemBytesMax: number;
  /** CSV: items per group; the last group may have fewer. */
  readonly rowsPerGroup?: number;
}

/**
 * XML and CSV values are strings (for XML, also nested objects and arrays of them); JSON values are any JSON
 * value, with integers beyond 2^53 as bigint.
 */
export type FeedObject = Readonly<Record<string, unknown>>;

export interface FeedItem {
  /** Position in the feed, from 1. */
  readonly at: number;
  readonly value: FeedObject | null;
  /** Why there is no value. A problem with one item does not stop the others. */
  readonly problem?: string;
}

export function htmlPage(): FeedError {
  return new FeedError("SK-DS-422", "the feed is an HTML page; does its address need a login?");
}

/**
 * Sets a member of an object under construction, whatever the member's name. Plain objects are fast, but
 * assigning `__proto__` to one would not create a member.
 */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
