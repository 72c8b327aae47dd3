// The current values of the live settings, which may change while the server runs, because SIGHUP reloads the
// configuration. Code that needs a live setting must read it here each time and keep no copy. `FixedConfig`
// contains all other settings.
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.js";

const LIVE_MEMBERS = ["plans", "cors", "trustProxy", "closedRoutes", "metricsKey", "formerLimits"] as const;
type LiveMember = (typeof LIVE_MEMBERS)[number];

/** Settings that cannot change while the server runs. */
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

  /**
   * Applies the live settings in `config`. Returns the names of the other members that have changed; those
   * changes take effect at the next start.
   */
  take(config: Config): string[] {
    this.#now = config;
    const names = Object.keys(config) as (keyof Config)[];
    const isLive = (name: string): boolean => LIVE_MEMBERS.some((live) => live === name);
    return names.filter((name) => !isLive(name) && !isDeepStrictEqual(config[name], this.#started[name]));
  }
}
