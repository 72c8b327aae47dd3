// The owner's handlers for calls from front-ends, except those about forwarded requests. Each handler passes
// the call on to the service concerned.
import { ShardError, shardErrorCode } from "../../../shards/protocol/errors.js";
import type { AuditLog } from "../../access/audit/audit-log.js";
import type { KeyUse } from "../../access/tenants/key-use.js";
import type { Catalog } from "../../catalog/catalog.js";
import type { ShardAccess } from "../../fleet/fleet.js";
import type { OpenIndexes } from "../../fleet/owner/open-indexes.js";
import type { Reads } from "../../fleet/reads/reads.js";
import { ShardEndedError } from "../../fleet/threads/shard-errors.js";
import type { Message } from "../../fleet/threads/shard-pool.js";
import type { Lifecycle } from "../../indexes/lifecycle.js";
import { type AnalyticsPool, LogStorageError } from "../../query-log/analytics/analytics-pool.js";
import type { PopularLogs } from "../../query-log/popularity/popular-logs.js";
import type { Popular } from "../../query-log/reports/popular.js";
import { errorOf } from "./channel.js";
import type { OwnerAnswers } from "./front-end-life.js";

export interface OwnerParts {
  readonly catalog: Catalog;
  readonly indexes: OpenIndexes;
  readonly reads: Reads;
  readonly access: ShardAccess;
  readonly lifecycle: Pick<Lifecycle, "checkOpen">;
  readonly popularLogs: PopularLogs;
  readonly analyticsPool: AnalyticsPool;
  readonly keyUse: Pick<KeyUse, "used">;
  readonly audit: Pick<AuditLog, "append">;
}

/** Returns the handlers for calls that the front-end in slot `place` sends to the owner. */
export function ownerAnswers(parts: OwnerParts, place: number): OwnerAnswers {
  const { catalog, indexes, reads, access, lifecycle, popularLogs, analyticsPool, keyUse, audit } = parts;
  /** By index uid, the popular queries and documents last sent to this front-end. */
  const told = new Map<number, Popular>();
  return {
    attach(uid) {
      const record = catalog.state.indexes.get(uid);
      if (record !== undefined) lifecycle.checkOpen(record);
      const { shared } = indexes.state(uid);
      shared.beginUse(place);
      return shared.shared;
    },
    async open(uid) {
      const { end } = await indexes.use(uid);
      end(); // the front-end's own use keeps the index open
    },
    read: ({ shard, tenant, request, subject }) =>
      reads.forwarded(shard, tenant, request as Message, subject),
    blame({ shard, subject, life, error }) {
      const ended = new ShardEndedError(error.message, { life, cause: errorOf(error) });
      access.quarantines.blame(shard, () => subject, ended);
    },
    damaged: ({ shard, code, message, uid }) =>
      indexes.onDamage(shard, new ShardError(shardErrorCode(code), message, { uid })),
    async append(chunk) {
      try {
        await analyticsPool.run({ kind: "append", chunk, nowMs: Date.now() });
        return true;
      } catch (error) {
        if (error instanceof LogStorageError) return false;
        throw error;
      }
    },
    popular({ uid, known }) {
      const record = catalog.state.indexes.get(uid);
      if (record === undefined) return null;
      const popular = popularLogs.of(record);
      if (known && told.get(uid) === popular) return null;
      told.set(uid, popular);
      return popular;
    },
    keyUsed: ({ keyId, nowMs }) => keyUse.used(keyId, nowMs),
    audit: (entry) => audit.append(entry),
  };
}
