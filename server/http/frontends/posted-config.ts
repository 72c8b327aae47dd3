// Converts the configuration into the form posted to front-ends, and back again on arrival. Also divides,
// among the front-ends, the limits that apply to the whole process.
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
 * Returns the limits for one of `frontEnds` threads. A limit on the memory or rate of the whole process is
 * divided by the number of threads and rounded up.
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
    workBytesMax: share(limits.workBytesMax),
  };
}
