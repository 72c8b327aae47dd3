// The member "feeds" of the configuration file: which addresses feeds may have, and what one run may take.
import { defaultsTo, object } from "../../ground/input/object-reader.js";
import { flag, type InputRules, integer, texts } from "../../ground/input/readers.js";

export interface FeedSettings {
  /** Feeds may come from private and loopback addresses. */
  readonly allowPrivate: boolean;
  /** Hosts that may have such an address all the same. */
  readonly allowHosts: readonly string[];
  /** Of a feed, as it is sent and decompressed. */
  readonly bytesMax: number;
  readonly msMax: number;
  /** Runs at the same time. */
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

/** Throws a SkeinError that names the member. */
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
