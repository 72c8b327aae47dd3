// Creates the services that change whole indexes. They create, delete and spread indexes, and maintain their
// rules, synonyms and vectors.
import type { ModelServers } from "../catalog/definition/model-servers.js";
import { Curation } from "../indexes/curation.js";
import { Embedders } from "../indexes/embedders/embedders.js";
import { TrainerPool } from "../indexes/embedders/trainer-pool.js";
import { VectorMessages } from "../indexes/embedders/vector-messages.js";
import { Lifecycle } from "../indexes/lifecycle.js";
import { Spreading } from "../indexes/reshard/spreading.js";
import { modelServers } from "../models/api-keys.js";
import type { SearchFloor } from "./search.js";

export function makeIndexes(search: SearchFloor) {
  const { config, catalog, secrets, engine, workbench, analyserOf, indexes, reads, writes, calls } = search;
  const { embeddings, headroom, planOf, indexEvents, jobs, limits, log, teardown } = search;
  const trainer = new TrainerPool(engine, log);
  teardown.add("end the thread of the trainer", () => trainer.stop());
  const embedders = new Embedders({
    catalog,
    indexes,
    reads,
    vectors: new VectorMessages(calls, indexes),
    trainer,
    endpoints: embeddings,
    workbench,
    jobs,
    limits,
    log,
  });
  const spreading = new Spreading({
    catalog,
    indexes,
    writes,
    calls,
    headroom,
    workbench,
    jobs,
    limits,
    log,
    onSpread: indexEvents.written,
  });
  indexEvents.watch(embedders);
  indexEvents.watch({ opened: (uid) => spreading.look(uid), written: (uid) => spreading.look(uid) });
  const serversOf = (tenant: number): ModelServers => modelServers(secrets, config.ai, tenant);
  return {
    ...search,
    embedders,
    lifecycle: new Lifecycle({
      jobs,
      catalog,
      indexes,
      writes,
      analyserOf,
      serversOf,
      planOf,
      limits,
      log,
    }),
    curation: new Curation(catalog, { analyserOf, limits }),
  };
}

export type IndexesFloor = ReturnType<typeof makeIndexes>;
