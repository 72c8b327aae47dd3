// The configuration member "feeds", which defines what addresses feeds may have and the limits of a run.
import { defaultsTo, object } from "../../ground/input/object-reader.js";
import { flag, type InputRules, integer, texts } from "../../ground/input/readers.js";

export interface FeedSettings {
  /** True to allow feeds from private and loopback addresses. */
  readonly allowPrivate: boolean;
  /** Hosts that may have private or loopback addresses even if `allowPrivate` is false. */
  readonly allowHosts: readonly string[];
  /** Maximum size of a feed in bytes, both before and after decompression. */
  readonly bytesMax: number;
  readonly msMax: number;
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
}

const FEEDS = object(
  {
    allow_private: defaultsTo(false, flag()),
    allow_hosts: defaultsTo([], texts(1_000, 255)),
    max_bytes: defaultsTo(10 * 1024 ** 3, integer(1, Number.MAX_SAFE_INTEGER)),
    timeout_s: defaultsTo(3_600, integer(1, 7 * 86_400)),
    concurrency: defaultsTo(2, integer(1, 64)),
  },
  { unknown: "refused" },
);

/** Reads the member "feeds". Throws a SkeinError whose message names the invalid member. */
export function readFeedSettings(value: unknown, path: string, rules: InputRules): FeedSettings {
  const feeds = value === undefined ? FEEDS.defaults : FEEDS.read(value, path, rules);
  return {
    allowPrivate: feeds.allow_private,
    allowHosts: feeds.allow_hosts,
    bytesMax: feeds.max_bytes,
    msMax: feeds.timeout_s * 1_000,
    concurrency: feeds.concurrency,
  };
}
