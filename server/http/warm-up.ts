// Warms a thread up: sends it queries made from an index's own documents before clients send theirs. They
// pass through the same phases and the same code. In a new thread, V8 has compiled hardly any of it, so the
// first queries cost several times as much CPU as later ones.
import { randomBytes } from "node:crypto";
import { OwnQuery } from "./own-query.js";
import { queryRoutes } from "./routes/query.js";
import { HttpService } from "./service.js";
import type { SearchServices } from "./services.js";
import { uncountedServices } from "./uncounted-services.js";
import { type Clients, type SendQuery, WarmUpRun, type WarmUpWanted } from "./warm-up-run.js";

const OK = 200;

/**
 * Warms this thread up, in the pauses of its `clients`. Resolves with the number of queries answered, 0 if
 * the index is gone. Never rejects.
 */
export async function warmUp(
  services: SearchServices,
  clients: Clients,
  wanted: WarmUpWanted,
): Promise<number> {
  const { indexes, tenants } = services.catalog.state;
  const record = indexes.get(wanted.uid);
  const tenant = tenants.get(record?.tenant ?? -1)?.name;
  if (record === undefined || tenant === undefined) return 0;
  return new WarmUpRun(wanted, clients, sender(services, record.name, tenant)).run(record);
}

/** The service that answers the queries is used for nothing else, so no client can know its bootstrap key. */
function sender(services: SearchServices, name: string, tenant: string): SendQuery {
  const key = randomBytes(24).toString("hex");
  const service = new HttpService(uncountedServices(services, key), queryRoutes);
  service.serve();
  const headers = {
    authorization: `Bearer ${key}`,
    "x-skein-tenant": tenant,
    "content-type": "application/json",
  };
  const path = `/v1/indexes/${encodeURIComponent(name)}/query`;
  return async (query, read) => {
    const answer = service.handle(new OwnQuery(path, headers, Buffer.from(JSON.stringify(query))));
    const sent = answer instanceof Promise ? await answer : answer;
    try {
      const { status, body } = sent.reply;
      if (status === OK && body instanceof Uint8Array) read(body);
      return status;
    } finally {
      sent.finished(undefined);
    }
  };
}
