// Starts listening for requests, either in the main thread or in front-ends. Front-ends forward the requests
// that they cannot answer.
import type { CertificatePair } from "../access/edge/certificate.js";
import { heapBytesMax } from "../ground/heap-limits.js";
import { freePort } from "../http/frontends/free-port.js";
import { ownerAnswers } from "../http/frontends/owner-answers.js";
import { Pulse } from "../http/frontends/pulse.js";
import { ROUTES } from "../http/routes/table.js";
import { HttpService } from "../http/service.js";
import type { Services } from "../http/services.js";
import { listen } from "../http/transport/listen.js";
import type { HttpListener } from "../http/transport/port.js";
import { warmUp } from "../http/warm-up.js";
import { orExplain } from "./ground.js";
import type { OperationsFloor } from "./operations.js";
import type { WarmUpThreads } from "./warm-up.js";

/** Time (ms) that front-ends have to close their connections and to end, or to be ended. */
const CLOSE_MS_MAX = 10_000;

/**
 * Listens on the server's address. Until `serve` is called, only routes that need no key respond, and
 * /health/ready answers 503.
 */
export async function startListener(parts: OperationsFloor, certificate: CertificatePair | null) {
  const services: Services = { ...parts, ...parts.counts };
  const service = new HttpService(services, ROUTES);
  const listener = await orExplain(() =>
    parts.frontEndCount === 0
      ? listenHere(parts, service, certificate)
      : listenOnFrontEnds(parts, service, certificate),
  );
  parts.teardown.add("close all connections", () => listener.close(), CLOSE_MS_MAX);
  const warmUpThreads = parts.frontEndCount === 0 ? warmUpHere(services, service) : warmUpFrontEnds(parts);
  return { service, listener, warmUpThreads };
}

function warmUpHere(services: Services, service: HttpService<Services>): WarmUpThreads {
  return (wanted) => warmUp(services, service, wanted);
}

function warmUpFrontEnds({ frontEnds }: OperationsFloor): WarmUpThreads {
  return (wanted) => frontEnds.warmUp(wanted);
}

function listenHere(
  { config, counts, limits, transport }: OperationsFloor,
  { handle: handler, malformed }: HttpService<Services>,
  certificate: CertificatePair | null,
): Promise<HttpListener> {
  const { host, port } = config;
  const { bodies: memory, unsent } = counts;
  const exchanges = { limits, memory, unsent };
  return listen(transport, { ...exchanges, host, port, isShared: false, certificate, handler, malformed });
}

async function listenOnFrontEnds(
  parts: OperationsFloor,
  { handle: handler }: HttpService<Services>,
  certificate: CertificatePair | null,
): Promise<HttpListener> {
  const { config, catalog, engine, shards, indexes, access, adminKey, counts, sharedCounts } = parts;
  const { frontEnds, frontEndCount: count, transport, limits } = parts;
  const port = await freePort(config.host, config.port);
  const places = count + 1;
  const pulse = new Pulse(places);
  const shared = { counts: sharedCounts, gate: access.gate.shared, pulse: pulse.shared };
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
      heapBytesMax: heapBytesMax(),
    }),
    config: { ...config, port },
    certificate,
    answersOf: (place) => ownerAnswers(parts, place),
    connect: (shard) => access.connect(shard),
    shards,
    clear: (place) => {
      indexes.clearPlace(place);
      access.gate.clear(place);
      counts.forget(place);
    },
    pulse,
    handler,
    exchanges: { limits, memory: counts.bodies, unsent: counts.unsent },
  });
  catalog.followBy((command) => frontEnds.changed(command));
  return started;
}
