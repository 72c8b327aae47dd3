// Converts the configuration for posting to front-ends, and back to the form used by a front-end. Limits on
// the whole process are divided among the front-ends.
import { ProxyTrust } from "../../access/edge/client-address.js";
import type { Limits } from "../../ground/limits.js";
import type { Config } from "../../operate/config/config.js";
import type { PostedConfig } from "./messages.js";

export function postedConfig(config: Config): PostedConfig {
  const { allowPrivate, allowHosts } = config.ai;
  return { ...config, trustProxy: config.trustProxy.setting, ai: { allowPrivate, allowHosts } };
}

export function receivedConfig(posted: PostedConfig): Config {
  return { ...posted, trustProxy: ProxyTrust.of(posted.trustProxy), ai: { ...posted.ai, coach: null } };
}

/**
 * Limits for each of `frontEnds` threads: every limit on the process's memory or rates is divided by the
 * number of threads.
 */
export function limitsOfEach(limits: Limits, frontEnds: number): Limits {
  const share = (amount: number): number => Math.ceil(amount / frontEnds);
  return {
    ...limits,
    rememberedAnswersBytesMax: share(limits.rememberedAnswersBytesMax),
    embeddingCacheBytesMax: share(limits.embeddingCacheBytesMax),
    shardQueueRequestsMax: share(limits.shardQueueRequestsMax),
    slowQueryLinesPerSecondMax: share(limits.slowQueryLinesPerSecondMax),
    queryLogWaitingBytesMax: share(limits.queryLogWaitingBytesMax),
  };
}
