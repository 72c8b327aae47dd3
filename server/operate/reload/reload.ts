// Handles SIGHUP in a running server: rereads the configuration, then the certificate. Each of the two is
// applied completely or not at all. If one of them is invalid, the server logs one line and keeps using the
// current one.
import { type CertificatePair, readCertificate } from "../../access/edge/certificate.js";
import type { Logger } from "../../ground/log.js";
import type { Config } from "../config/config.js";
import { ConfigError } from "../config/values.js";
import type { LiveSettings } from "./live-settings.js";

interface Reloading {
  readonly config: Config;
  readonly settings: LiveSettings;
  readonly listener: { useCertificate(pair: CertificatePair): void | Promise<void> };
  /** Front-ends have their own copies of the settings, so they must be told. */
  readonly frontEnds: { settings(config: Config): Promise<void> };
  readonly log: Logger;
}

/**
 * Reloads the configuration and the certificate. `read` assembles the configuration as at startup; errors
 * other than ConfigError are rethrown.
 */
export async function reload(
  { config, settings, listener, frontEnds, log }: Reloading,
  read: () => Config,
): Promise<void> {
  try {
    const changed = read();
    const restart = settings.take(changed);
    await frontEnds.settings(changed);
    log.info("the configuration was read again");
    if (restart.length > 0) log.warn({ members: restart }, "changed settings wait for a restart");
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error({ reason: error.message }, "the configuration is wrong; the settings in force stay");
  }
  if (config.tls === null) return;
  try {
    const pair = readCertificate(config.tls);
    await listener.useCertificate(pair);
    log.info({ validTo: pair.validTo }, "the certificate was read again");
  } catch (error) {
    const reason = (error as Error).message;
    log.error({ reason }, "the certificate cannot be used; the one in force stays");
  }
}
