// Determines which operations in the route table go into the audit log, and under which action. A test
// compares this table with the route table, so every new route other than a GET needs an entry here.
// Documents and events written by clients are not logged, because there may be any number of them. Queries,
// previews and analyses are not logged either.
import { isObject } from "../../ground/input/json-value.js";
import type { NewEntry } from "./entry.js";

interface AuditedOperation {
  readonly action: string;
  /**
   * Name of the path parameter that identifies the changed object. If the path has no such parameter, the
   * reply's data has a member with this name.
   */
  readonly target: string;
}

/** Every operation except GETs, by operationId. Null if the operation is not logged. */
export const OPERATIONS: Readonly<Record<string, AuditedOperation | null>> = {
  createIndex: { action: "index.create", target: "name" },
  updateIndex: { action: "index.update", target: "name" },
  deleteIndex: { action: "index.delete", target: "name" },
  updateSettings: { action: "settings.update", target: "name" },
  copySettings: { action: "settings.copy", target: "source_index" },
  swapIndexes: { action: "index.swap", target: "target" },
  deleteDocuments: { action: "documents.delete", target: "name" },
  createRankingRule: { action: "rule.create", target: "id" },
  updateRankingRule: { action: "rule.update", target: "id" },
  deleteRankingRule: { action: "rule.delete", target: "id" },
  createSynonyms: { action: "synonyms.create", target: "id" },
  updateSynonyms: { action: "synonyms.update", target: "id" },
  deleteSynonyms: { action: "synonyms.delete", target: "id" },
  createDataSource: { action: "source.create", target: "id" },
  updateDataSource: { action: "source.update", target: "id" },
  deleteDataSource: { action: "source.delete", target: "id" },
  syncNow: { action: "source.sync", target: "id" },
  cancelRun: { action: "run.cancel", target: "run_id" },
  forgetPerson: { action: "person.forget", target: "name" },
  applyRecommendation: { action: "recommendation.apply", target: "id" },
  dismissRecommendation: { action: "recommendation.dismiss", target: "id" },
  createKey: { action: "key.create", target: "id" },
  updateKey: { action: "key.update", target: "id" },
  deleteKey: { action: "key.delete", target: "id" },
  rotateKey: { action: "key.rotate", target: "id" },
  createTenant: { action: "tenant.create", target: "id" },
  updateTenant: { action: "tenant.update", target: "id" },
  deleteTenant: { action: "tenant.delete", target: "id" },
  createSnapshot: { action: "snapshot.create", target: "id" },
  deleteSnapshot: { action: "snapshot.delete", target: "id" },
  batchDocuments: null,
  importDocuments: null,
  updateDocument: null,
  deleteDocument: null,
  sendEvents: null,
  query: null,
  multiSearch: null,
  suggest: null,
  similarDocuments: null,
  previewFeed: null,
  analyze: null,
};

export const AUDIT_ACTIONS: readonly string[] = Object.values(OPERATIONS).flatMap((one) => one?.action ?? []);

export function isAudited(operation: string): boolean {
  return (OPERATIONS[operation] ?? null) !== null;
}

/** Longer values are truncated, because a client may send a path of any length. */
const SHOWN_CHARACTERS_MAX = 200;

/** A request whose key was accepted for the operation. */
export interface AskedOperation {
  readonly operation: string;
  /** Path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly tenant: string | null;
  readonly tenantId: number;
  readonly keyId: number | null;
}

interface Outcome {
  readonly requestId: string;
  readonly address: string;
  readonly status: number;
  /** The reply's data. */
  readonly data: unknown;
}

/**
 * The log entry for an answered request. Null if the operation is not audited, or if the request was refused
 * (4xx) and so changed nothing. Logging refusals would let anyone with any key flood the log until the real
 * changes are rotated out.
 */
export function entryOf(
  asked: AskedOperation,
  { requestId, address, status, data }: Outcome,
): NewEntry | null {
  const audited = OPERATIONS[asked.operation] ?? null;
  if (audited === null || (status >= 400 && status < 500)) return null;
  const answered = status < 400 && isObject(data) ? data : {};
  const { params } = asked;
  const ofIndex = audited.action === "index.create" ? answered.name : asked.params.name;
  return {
    time: new Date().toISOString(),
    request_id: requestId,
    tenant: asked.tenant,
    tenant_id: asked.tenantId,
    key_id: asked.keyId,
    address,
    action: audited.action,
    index: shown(ofIndex),
    target: shown(params[audited.target] ?? answered[audited.target]),
    status,
  };
}

function shown(value: unknown): string | null {
  return value === undefined ? null : String(value).slice(0, SHOWN_CHARACTERS_MAX);
}
