// Reads in-memory feeds to their end.

import type { FeedFormat } from "../../../../../server/catalog/records/data-source.js";
import type { FeedItem, FeedOptions } from "../../../../../server/documents/feeds/feed-item.js";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { FeedError } from "../../../../../server/ground/errors.js";

export type Settings = Partial<FeedOptions> & { readonly contentType?: string | null };

export async function read(
  format: FeedFormat,
  bytes: Uint8Array | string,
  settings: Settings = {},
): Promise<FeedItem[]> {
  const { contentType = null, ...options } = settings;
  const feed = { chunks: cut(typeof bytes === "string" ? Buffer.from(bytes) : bytes), contentType };
  const usual = { itemsPath: null, delimiter: null, encoding: null, itemBytesMax: 1024 * 1024 };
  return all(readFeed(feed, { format, ...usual, ...options }));
}

/** Returns each item's value, or its problem if it failed. */
export async function values(format: FeedFormat, bytes: Uint8Array | string, settings: Settings = {}) {
  return valuesOf(await read(format, bytes, settings));
}

export function valuesOf(items: readonly FeedItem[]): unknown[] {
  return items.map(({ value, problem }) => (value === null ? problem : plain(value)));
}

/** Returns a reader's error code and message (null if it succeeds), and the items read before the error. */
export async function refusal(groups: AsyncIterable<readonly FeedItem[]>) {
  const items: FeedItem[] = [];
  try {
    for await (const group of groups) items.push(...group);
  } catch (error) {
    if (error instanceof FeedError) return { items, code: error.code, message: error.message };
    throw error;
  }
  return { items, code: null, message: null };
}

export async function all<T>(groups: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const group of groups) items.push(...group);
  return items;
}

export async function* cut(bytes: Uint8Array, sizes: readonly number[] = []): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : sizes[i % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

export async function* cutText(text: string, sizes: readonly number[]): AsyncGenerator<string> {
  let at = 0;
  for (let i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length]!;
    yield text.slice(at, at + size);
    at += size;
  }
}

/** Copies a value with ordinary prototypes; a member named __proto__ stays a member. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
