// Creates the services that write documents: the intake of large bodies, quotas and feeds.
import { AtOnce } from "../access/tenants/at-once.js";
import { ByteQuotas } from "../access/tenants/byte-quota.js";
import { DocumentQuotas } from "../access/tenants/document-quota.js";
import { byteLimits } from "../access/tenants/plans.js";
import { Intake } from "../documents/ingest/intake-pool.js";
import { FeedPool } from "../documents/sources/feed-pool.js";
import { Previews } from "../documents/sources/preview.js";
import { Runs } from "../documents/sources/runs.js";
import { Sources } from "../documents/sources/sources.js";
import type { IndexesFloor } from "./indexes.js";

export function makeDocuments(below: IndexesFloor) {
  const { config, catalog, secrets, engine, workbench, indexes, reads, writes, lifecycle } = below;
  const { headroom, planOf, jobs, limits, log, recorder, teardown } = below;
  const { feeds } = config;
  const intake = new Intake({ engine, workbench, limits, log });
  teardown.add("end the intake thread", () => intake.stop());
  const pool = new FeedPool(engine, feeds.concurrency + 1, log); // one extra thread for previews
  teardown.add("end the feed threads", () => pool.stop());
  const documentQuotas = new DocumentQuotas(
    (tenant) => lifecycle.recordsOf(tenant),
    (tenant) => planOf(tenant).documents,
  );
  const byteQuotas = new ByteQuotas({
    limitsOf: (tenant) => byteLimits(planOf(tenant)),
    measure: (tenant) =>
      jobs.run({ name: "measure what a tenant takes", subject: `bytes of tenant ${tenant}` }, () =>
        indexes.sizes(lifecycle.list(tenant)),
      ),
    nowMs: () => performance.now(),
    log,
  });
  const runs = new Runs({
    workbench,
    intake,
    headroom,
    byteQuotas,
    reads,
    writes,
    catalog,
    indexes,
    jobs,
    pool,
    settings: feeds,
    secrets,
    documentQuotas,
    limits,
    log,
    recorder,
  });
  return {
    ...below,
    intake,
    documentQuotas,
    byteQuotas,
    /** Limits the number of imports that each tenant may run at the same time. */
    imports: new AtOnce("imports"),
    runs,
    sources: new Sources({ catalog, runs, secrets, settings: feeds, limits, jobs, log }),
    previews: new Previews(pool, feeds, limits, jobs),
  };
}

export type DocumentsFloor = ReturnType<typeof makeDocuments>;
