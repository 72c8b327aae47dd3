// The record of a tenant's monthly usage, its storage, and its command.
import { type Applied, type StoredKind, stored } from "./kind.js";

/** A tenant's usage in one month (UTC, "2026-01"). */
export interface UsageRecord {
  readonly tenant: number;
  readonly month: string;
  readonly searches: number;
  /** Number of coach analyses; absent if zero. */
  readonly coach?: number;
}

export const USAGE_KIND = {
  name: "usage",
  counter: null,
  of: "tenant",
  vital: false,
  copiedAs: null,
} as const satisfies StoredKind;

export interface UsageRecords {
  /** By tenant id. */
  readonly usage: ReadonlyMap<number, UsageRecord>;
}

export type UsageCommand = { readonly type: "usage.put"; readonly usage: readonly UsageRecord[] };

export function putUsage(state: UsageRecords, entries: readonly UsageRecord[]): Applied<UsageRecords> {
  return {
    usage: new Map([...state.usage, ...entries.map((entry) => [entry.tenant, entry] as const)]),
    changes: entries.map((entry) => stored(USAGE_KIND, entry.tenant, entry)),
  };
}
