// What takes requests: the main thread, or front-ends that pass it what they do not answer.
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { CertificatePair } from "../access/edge/certificate.js";
import type { Logger } from "../ground/log.js";
import { freePort } from "../http/frontends/free-port.js";
import type { FrontEnds } from "../http/frontends/front-ends.js";
import { type OwnerParts, ownerAnswers } from "../http/frontends/owner-answers.js";
import { Pulse } from "../http/frontends/pulse.js";
import { type HttpTransport, listen } from "../http/listen.js";
import { canShareNodePort } from "../http/node-app.js";
import type { HttpListener } from "../http/port.js";
import type { HttpService } from "../http/service.js";
import type { Services } from "../http/services.js";
import type { SharedCounts, ThreadCounts } from "../http/thread-counts.js";
import type { Config } from "../operate/config.js";

/** How many threads take requests beside the main thread; 0: that one does. */
export function frontEndsBeside(transport: HttpTransport, { frontEnds }: Config, log: Logger): number {
  if (frontEnds === 1) return 0;
  if (transport !== "node" || canShareNodePort(process.versions.node)) return frontEnds;
  log.warn({ frontEnds }, "one front-end: node:http cannot share an address before Node 22.12");
  return 0;
}

export interface ListenerParts extends OwnerParts {
  readonly config: Config;
  readonly transport: HttpTransport;
  readonly certificate: CertificatePair | null;
  readonly adminKey: string;
  readonly service: HttpService<Services>;
  readonly services: Services;
  readonly engine: EngineModule;
  readonly frontEnds: FrontEnds;
  /** See frontEndsBeside. */
  readonly count: number;
  readonly counts: Pick<ThreadCounts, "forget">;
  readonly sharedCounts: SharedCounts;
}

/** Resolves when the server's address is listened on. Rejects when it cannot be used. */
export async function startListener(parts: ListenerParts): Promise<HttpListener> {
  const { config, transport, certificate, adminKey, service, services, engine, frontEnds, count } = parts;
  const { catalog, cluster, counts, sharedCounts } = parts;
  const { limits, host } = config;
  const { handle: handler, malformed } = service;
  const exchanges = { limits, memory: services.bodies, unsent: services.unsent };
  if (count === 0) {
    const { port } = config;
    return listen(transport, { ...exchanges, host, port, isShared: false, certificate, handler, malformed });
  }
  const port = await freePort(host, config.port);
  const { lines, indexes } = cluster;
  const { shards } = lines;
  const places = count + 1;
  const pulse = new Pulse(places);
  const shared = { counts: sharedCounts, gate: lines.gate.shared, pulse: pulse.shared };
  const started = frontEnds.start({
    count,
    dataOf: (place) => ({
      place,
      places,
      transport,
      adminKey,
      engine: { ...engine.parts, memoryBytesMax: limits.engineBytesMax },
      shards,
      catalog: { state: catalog.state, damagedIndexes: catalog.damage.indexes },
      shared,
    }),
    config: { ...config, port },
    certificate,
    answersOf: (place) => ownerAnswers(parts, place),
    connect: (shard) => lines.connect(shard),
    shards,
    clear: (place) => {
      indexes.clearPlace(place);
      lines.gate.clear(place);
      counts.forget(place);
    },
    pulse,
    handler,
    exchanges,
  });
  catalog.followBy((command) => frontEnds.changed(command));
  return started;
}
