// Combines the configuration and the limits into the network rules for downloading feeds.
import type { Limits } from "../../ground/limits.js";
import type { OutboundRules } from "../../ground/outbound/download.js";
import type { FeedSettings } from "./feed-settings.js";

const REDIRECTS_MAX = 5;

export function outboundRules(settings: FeedSettings, limits: Limits): OutboundRules {
  const { allowPrivate, allowHosts, bytesMax, msMax } = settings;
  return {
    allowPrivate,
    allowHosts,
    bytesMax,
    msMax,
    silenceMsMax: limits.feedSilenceMsMax,
    redirectsMax: REDIRECTS_MAX,
  };
}
