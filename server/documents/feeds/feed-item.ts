// What a feed is made of once it is read: items, each a plain object or the reason why there is none. Knows nothing of the format
// that an item came in nor of the index that it goes to.

import type { FeedFormat } from "../../catalog/types.js";
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

/** Values of XML and CSV are strings (or nested objects / arrays of them for XML); of JSON any JSON value, an integer beyond 2^53 as bigint. */
export type FeedObject = Readonly<Record<string, unknown>>;

export interface FeedItem {
  /** Position in the feed, from 1. */
  readonly at: number;
  readonly value: FeedObject | null;
  /** Why there is no value; the other items go on. */
  readonly problem?: string;
}

export function htmlPage(): FeedError {
  return new FeedError("SK-DS-422", "the feed is an HTML page; does its address need a login?");
}

/** Sets a member of an object that is being made, whatever its name is: plain objects are fast, and `__proto__` is no member of theirs. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
