// The torture test's operations, each with its request and the resulting state. Until an operation is
// answered, each document may be in its old or its new state; anything else an operation changes is old or
// new as a whole.
import type { Random } from "../../bench/random.js";
import { anyFilter, anyId, anyIds, anyMembers, type Document, type Table } from "./documents.js";

export type Name = "live" | "next";

/** The expected state of a lane's indexes. */
export interface State {
  readonly tables: Readonly<Record<Name, Table>>;
  /** Settings by index name; a swap exchanges them with the documents. */
  readonly settings: Readonly<Record<Name, Settings>>;
  readonly rules: Readonly<Record<Name, ReadonlyMap<string, boolean>>>;
}

export interface Settings {
  readonly min_len_1typo: number;
  readonly symbols_to_index: readonly string[];
}

export interface Request {
  readonly method: string;
  /** Path below the index, without a leading slash. */
  readonly path: string;
  readonly index: Name;
  readonly body?: unknown;
}

export interface Operation {
  readonly kind: string;
  readonly request: Request;
  /** The expected status, and the number of documents that the response reports as refused. */
  readonly status: number;
  readonly failed?: number;
  readonly after: State;
}

export const START: State = {
  tables: { live: new Map(), next: new Map() },
  settings: {
    live: { min_len_1typo: 4, symbols_to_index: [] },
    next: { min_len_1typo: 4, symbols_to_index: [] },
  },
  rules: { live: new Map(), next: new Map() },
};

type Make = (random: Random, state: State, index: Name) => Operation;

function withTable(state: State, index: Name, table: Table): State {
  return { ...state, tables: { ...state.tables, [index]: table } };
}

const importLines: Make = (random, state, index) => {
  const documents = anyIds(random, random.from(30, 200)).map((id) => ({ id, ...anyMembers(random, 0.8) }));
  const table = new Map([...state.tables[index], ...documents.map((one) => [one.id, one] as const)]);
  const body = Buffer.from(documents.map((one) => JSON.stringify(one)).join("\n"));
  const request = { method: "POST", path: "documents/import?action=upsert", index, body };
  return { kind: "import", request, status: 200, failed: 0, after: withTable(state, index, table) };
};

const ACTIONS = ["upsert", "upsert", "create", "update", "emplace", "delete"] as const;

const batch: Make = (random, state, index) => {
  const action = random.pick(ACTIONS);
  const partial = action === "update" || action === "emplace";
  const documents = anyIds(random, random.from(1, 25)).map((id) => ({
    id,
    ...(action === "delete" ? {} : anyMembers(random, partial ? 0.3 : 0.8)),
  }));
  const table = new Map(state.tables[index]);
  let failed = 0;
  for (const document of documents) {
    const old = table.get(document.id);
    const refused =
      action === "create" ? old !== undefined : action === "update" || action === "delete" ? !old : false;
    if (refused) failed++;
    else if (action === "delete") table.delete(document.id);
    else table.set(document.id, partial ? { ...old, ...document } : document);
  }
  const request = { method: "POST", path: "documents/batch", index, body: { action, documents } };
  return { kind: action, request, status: 200, failed, after: withTable(state, index, table) };
};

const patch: Make = (random, state, index) => {
  const id = anyId(random);
  const changes = anyMembers(random, 0.4);
  const old = state.tables[index].get(id);
  const table = new Map(state.tables[index]);
  if (old !== undefined) table.set(id, { ...old, ...changes } as Document);
  const request = { method: "PATCH", path: `documents/${id}`, index, body: changes };
  return { kind: "patch", request, status: old ? 200 : 404, after: withTable(state, index, table) };
};

const remove: Make = (random, state, index) => {
  const id = anyId(random);
  const table = new Map(state.tables[index]);
  const status = table.delete(id) ? 200 : 404;
  const request = { method: "DELETE", path: `documents/${id}`, index };
  return { kind: "remove", request, status, after: withTable(state, index, table) };
};

const removeWhere: Make = (random, state, index) => {
  const { text, passes } = anyFilter(random);
  const table = new Map([...state.tables[index]].filter(([, document]) => !passes(document)));
  const request = { method: "DELETE", path: `documents?filter_by=${encodeURIComponent(text)}`, index };
  return { kind: "remove where", request, status: 200, after: withTable(state, index, table) };
};

const swap: Make = (_random, state) => {
  const turned = <T>({ live, next }: Readonly<Record<Name, T>>): Record<Name, T> => ({
    live: next,
    next: live,
  });
  const { tables, settings, rules } = state;
  const after = { tables: turned(tables), settings: turned(settings), rules: turned(rules) };
  const request = {
    method: "POST",
    path: "swap-with",
    index: "live" as const,
    body: { target_index: "next" },
  };
  return { kind: "swap", request, status: 200, after };
};

const settings: Make = (random, state, index) => {
  const body = { min_len_1typo: random.from(1, 8), symbols_to_index: random.pick([[], [], ["+"]]) };
  const after = { ...state, settings: { ...state.settings, [index]: body } };
  return {
    kind: "settings",
    request: { method: "PATCH", path: "settings", index, body },
    status: 200,
    after,
  };
};

/** Makes rules for queries that are never sent. */
const rule: Make = (random, state, index) => {
  const name = `rule ${state.rules[index].size} ${random.below(1000)}`;
  const enabled = random.below(2) === 0;
  const conditions = { query_contains: ["nobody asks this"] };
  const body = { name, type: "boost", conditions, effect: { filter_by: "stock:>0", weight: 2 }, enabled };
  const rules = { ...state.rules, [index]: new Map([...state.rules[index], [name, enabled]]) };
  const request = { method: "POST", path: "ranking-rules", index, body };
  return { kind: "rule", request, status: 201, after: { ...state, rules } };
};

const MIX: readonly Make[] = [
  importLines,
  importLines,
  batch,
  batch,
  batch,
  batch,
  patch,
  remove,
  removeWhere,
  swap,
  settings,
  rule,
];

export function anyOperation(random: Random, state: State): Operation {
  return random.pick(MIX)(random, state, random.pick(["live", "live", "next"]));
}
