// The settings in force, of which some may change while the server runs: SIGHUP has the configuration read again.
// Whoever asks for one of these asks here each time and keeps no copy; `FixedConfig` has none of them.
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.js";

const LIVE_MEMBERS = ["plans", "cors", "trustProxy", "closedRoutes", "metricsKey", "formerLimits"] as const;
type LiveMember = (typeof LIVE_MEMBERS)[number];

/** What holds from the start to the end of the server. */
export type FixedConfig = Omit<Config, LiveMember>;

export class LiveSettings {
  readonly #started: Config;
  #now: Pick<Config, LiveMember>;

  constructor(started: Config) {
    this.#started = started;
    this.#now = started;
  }

  get now(): Pick<Config, LiveMember> {
    return this.#now;
  }

  /** Puts the live settings of `config` in force. Returns the members of which the start had other values: these wait for a restart. */
  take(config: Config): string[] {
    this.#now = config;
    const names = Object.keys(config) as (keyof Config)[];
    const isLive = (name: string): boolean => LIVE_MEMBERS.some((live) => live === name);
    return names.filter((name) => !isLive(name) && !isDeepStrictEqual(config[name], this.#started[name]));
  }
}
