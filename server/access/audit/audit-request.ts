// Reads the parameters of GET /v1/audit.
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import { isoTime } from "../../ground/input/time-reader.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { AuditFilter } from "./audit-reader.js";
import { AUDIT_ACTIONS } from "./operations.js";

const CODE = "SK-SYS-400";
const LIMIT = 100;
const NUMBER = /^\d{1,15}$/;

/** Reads the filter's parameters. Throws SK-SYS-400. */
export function readAuditFilter(query: URLSearchParams, limits: Limits): AuditFilter {
  const before = query.get("before");
  const isNumber = before !== null && NUMBER.test(before);
  const rules = { limits, code: CODE } as const;
  const action = query.get("action");
  if (action !== null && !AUDIT_ACTIONS.includes(action))
    throw new SkeinError(CODE, `action must be one of ${AUDIT_ACTIONS.join(", ")}, not ${describe(action)}`);
  return {
    beforeSeq: isNumber ? Number(before) : null,
    beforeMs: before === null || isNumber ? null : Date.parse(isoTime().read(before, "before", rules)),
    tenant: query.get("tenant"),
    action,
    keyId: keyIdOf(query.get("key_id")),
  };
}

/** Returns the page size, clamped to the allowed range as in every list request. Throws SK-SYS-400. */
export function readAuditLimit(query: URLSearchParams): number {
  const given = query.get("limit");
  if (given === null) return LIMIT;
  if (!/^-?\d{1,15}$/.test(given))
    throw new SkeinError(CODE, `limit must be an integer, not ${describe(given)}`);
  return Math.min(Math.max(1, Number(given)), FIXED_LIMITS.auditRowsMax);
}

function keyIdOf(given: string | null): AuditFilter["keyId"] {
  if (given === null || given === "bootstrap") return given;
  if (NUMBER.test(given)) return Number(given);
  throw new SkeinError(CODE, `key_id must be the id of a key or bootstrap, not ${describe(given)}`);
}
