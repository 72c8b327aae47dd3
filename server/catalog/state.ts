// The catalog's state and the only function that changes it. A command contains every id, time and generated
// value, so applying the same commands always gives the same state. Each record kind's file defines its part
// of the state and its commands. Depends neither on the database nor on the clock.
import {
  copyToIndex,
  deleteIndex,
  forgetDropped,
  type IndexCommand,
  type IndexRecords,
  putIndex,
  spreadIndex,
  swapIndexes,
} from "./index-commands.js";
import type { Counter } from "./kinds.js";
import { type Lookups, lookupsOf } from "./lookups.js";
import { deleteOwned, eachCounter, eachOwned, type OwnedCommand, putOwned } from "./owned-records.js";
import { deleteKey, type KeyCommand, type KeyRecords, markKeysUsed, putKey } from "./records/key.js";
import type { Applied, Change } from "./records/kind.js";
import { deleteTenant, putTenant, type TenantCommand, type TenantRecords } from "./records/tenant.js";
import { putUsage, type UsageCommand, type UsageRecords } from "./records/usage.js";

/** Immutable: a change creates a new state with the next version. */
export interface CatalogState extends IndexRecords, TenantRecords, KeyRecords, UsageRecords, Lookups {
  readonly version: number;
  /** The data directory's number of shards. Null until the first start has set it. */
  readonly shards: number | null;
}

/**
 * The members of the state that are stored together in a single record. ON DISK - never reuse a name for
 * something else.
 */
export type Meta = Pick<CatalogState, "version" | "shards" | Counter>;

export type Command =
  | TenantCommand
  | KeyCommand
  | UsageCommand
  | IndexCommand
  | OwnedCommand
  | { readonly type: "shards.fix"; readonly shards: number }
  /** Several commands, applied in order and stored together. */
  | { readonly type: "all"; readonly commands: readonly Command[] };

export const EMPTY_STATE: CatalogState = {
  version: 0,
  shards: null,
  ...eachCounter(() => 1),
  tenants: new Map(),
  keys: new Map(),
  indexes: new Map(),
  owned: eachOwned(() => new Map()),
  toDrop: new Set(),
  usage: new Map(),
  ...lookupsOf({ indexes: new Map(), keys: new Map() }),
};

export function metaOf(state: CatalogState): Meta {
  return { version: state.version, shards: state.shards, ...eachCounter((name) => state[name]) };
}

/**
 * Returns the state after the command, and the command's changes to stored records. The same input always
 * gives the same result.
 */
export function apply(
  state: CatalogState,
  command: Command,
): { state: CatalogState; changes: readonly Change[] } {
  const { changes, ...members } = applied(state, command);
  return { state: { ...state, ...members, ...lookupsOf(members), version: state.version + 1 }, changes };
}

function applied(state: CatalogState, command: Command): Applied<CatalogState> {
  switch (command.type) {
    case "shards.fix":
      return { shards: command.shards, changes: [] };
    case "tenant.put":
      return putTenant(state, command.tenant);
    case "tenant.delete":
      return deleteTenant(state, command.id);
    case "key.put":
      return putKey(state, command.key);
    case "key.delete":
      return deleteKey(state, command.id);
    case "keys.used":
      return markKeysUsed(state, command.ids, command.day);
    case "usage.put":
      return putUsage(state, command.usage);
    case "index.put":
      return putIndex(state, command.record);
    case "index.delete":
      return deleteIndex(state, command.uid);
    case "index.dropped":
      return forgetDropped(state, command.uid);
    case "index.spread":
      return spreadIndex(state, command.uid, command.home);
    case "index.swap":
      return swapIndexes(state, command.uid, command.target, command.drop);
    case "index.copy":
      return copyToIndex(state, command.record, command.owned);
    case "record.put":
      return putOwned(state, command.kind, command.record);
    case "record.delete":
      return deleteOwned(state, command.kind, command.index, command.id);
    case "all":
      return applyAll(state, command.commands);
  }
}

function applyAll(state: CatalogState, commands: readonly Command[]): Applied<CatalogState> {
  let after: Applied<CatalogState> = { changes: [] };
  for (const command of commands) {
    const { changes, ...members } = applied({ ...state, ...after }, command);
    after = { ...after, ...members, changes: [...after.changes, ...changes] };
  }
  return after;
}
