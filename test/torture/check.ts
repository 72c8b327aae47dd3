// Compares a server with the writes it acknowledged: its exported state, and the results of queries, which
// are checked by scanning every document.

import { isDeepStrictEqual } from "node:util";
import type { Random } from "../../bench/random.js";
import type { TestServer } from "../e2e/world/harness.js";
import { anyFilter, type Document, SCHEMA, type Table, WORDS } from "./documents.js";
import type { Name, Operation, State } from "./operation.js";

const NAMES = ["live", "next"] as const;
const PAGE = 250;

/**
 * Something acknowledged is lost or wrong. `evidence` has the observed and the expected state for a human
 * reader.
 */
export class LossError extends Error {
  constructor(
    message: string,
    readonly evidence: unknown,
  ) {
    super(message);
    this.name = "LossError";
  }
}

/** The name of one of a lane's two indexes. */
export function indexName(lane: number, name: Name): string {
  return `lane${lane}-${name}`;
}

async function readState(server: TestServer, lane: number): Promise<State> {
  const read = async <T>(path: string, take: (text: string) => T): Promise<Record<Name, T>> => {
    const [live, next] = await Promise.all(
      NAMES.map(async (name) => {
        const reply = await server.raw("GET", `/v1/indexes/${indexName(lane, name)}/${path}`);
        if (reply.status !== 200)
          throw new LossError(`${path} was answered with ${reply.status}`, reply.text);
        return take(reply.text);
      }),
    );
    return { live: live!, next: next! };
  };
  const tables = await read("documents/export", (text): Table => {
    const lines = text.split("\n").filter((line) => line !== "");
    return new Map(lines.map((line) => JSON.parse(line) as Document).map((one) => [one.id, one]));
  });
  const settings = await read("settings", (text) => {
    const { min_len_1typo, symbols_to_index } = (JSON.parse(text) as { data: State["settings"]["live"] })
      .data;
    return { min_len_1typo, symbols_to_index };
  });
  const rules = await read("ranking-rules", (text) => {
    const { data } = JSON.parse(text) as { data: { name: string; enabled: boolean }[] };
    return new Map(data.map(({ name, enabled }) => [name, enabled]));
  });
  return { tables, settings, rules };
}

/** True if every document matches one of the two states. */
function isBetween(found: Table, before: Table, after: Table): boolean {
  const ids = new Set([...found.keys(), ...before.keys(), ...after.keys()]);
  return [...ids].every((id) => {
    const document = found.get(id);
    return isDeepStrictEqual(document, before.get(id)) || isDeepStrictEqual(document, after.get(id));
  });
}

/**
 * Reads the server's state after recovery, which must be the state before or after `pending`. Only an import,
 * which consists of several batches, may have left some documents in the old state and others in the new.
 * Throws LossError.
 */
export async function recoveredState(
  server: TestServer,
  lane: number,
  before: State,
  pending: Operation | null,
): Promise<State> {
  const found = await readState(server, lane);
  const after = pending?.after ?? before;
  const rest = ({ settings, rules }: State): object => ({ settings, rules });
  const fits =
    pending?.kind === "import"
      ? isDeepStrictEqual(rest(found), rest(before)) &&
        NAMES.every((name) => isBetween(found.tables[name], before.tables[name], after.tables[name]))
      : isDeepStrictEqual(found, before) || isDeepStrictEqual(found, after);
  if (!fits) {
    const what = pending === null ? "nothing was under way" : `${pending.kind} was under way`;
    throw new LossError(`lane ${lane}: the state is neither old nor new (${what})`, {
      found: printable(found),
      before: printable(before),
      after: printable(after),
      pending: pending && { kind: pending.kind, index: pending.request.index, path: pending.request.path },
    });
  }
  return found;
}

function printable({ tables, settings, rules }: State): object {
  const plain = <T>(both: Readonly<Record<Name, ReadonlyMap<string, T>>>): object =>
    Object.fromEntries(NAMES.map((name) => [name, Object.fromEntries(both[name])]));
  return { tables: plain(tables), settings, rules: plain(rules) };
}

/**
 * Sends `count` random queries with a filter, a word, a sort order and facets, and compares each answer with
 * a scan of all documents. Throws LossError.
 */
export async function checkQueries(
  server: TestServer,
  lane: number,
  state: State,
  random: Random,
  count: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const name = random.pick(NAMES);
    const filter = anyFilter(random);
    const word = random.pick([...WORDS, null, null]);
    const body = {
      q: word ?? "*",
      query_by: "title",
      prefix: false,
      num_typos: 0,
      filter_by: filter.text,
      sort_by: "rank:asc",
      facet_by: "stock",
      max_facet_values: 100,
      per_page: PAGE,
      ai: false, // interpretation would change the meaning of a one-word query
    };
    const documents = [...state.tables[name].values()].filter(
      (document) => filter.passes(document) && (word === null || document.title?.split(" ").includes(word)),
    );
    const reply = await server.query(indexName(lane, name), body);
    if (reply.status !== 200) throw new LossError(`a query was answered with ${reply.status}`, reply.text);
    const hits = reply.json.hits.map((hit) => hit.document as unknown as Document);
    const ranks = hits.flatMap(({ rank }) => (rank === undefined ? [] : [rank]));
    const seen = {
      found: reply.json.found,
      ids: hits.map(({ id }) => id).toSorted(),
      documents: hits.every((hit) => isDeepStrictEqual(hit, state.tables[name].get(hit.id))),
      sorted: isDeepStrictEqual(
        ranks,
        ranks.toSorted((a, b) => a - b),
      ),
      missingLast: hits.slice(0, ranks.length).every(({ rank }) => rank !== undefined),
      facets: Object.values(reply.json.facets.stock ?? {}).reduce((sum, n) => sum + n, 0),
    };
    const expected = {
      found: documents.length,
      ids: documents.map(({ id }) => id).toSorted(),
      documents: true,
      sorted: true,
      missingLast: true,
      facets: documents.filter(({ stock }) => stock !== undefined).length,
    };
    if (isDeepStrictEqual(seen, expected)) continue;
    throw new LossError(`lane ${lane}: a query of ${name} got a different answer`, { body, seen, expected });
  }
}

export async function createLane(server: TestServer, lane: number): Promise<void> {
  for (const name of NAMES) await server.createIndex(indexName(lane, name), SCHEMA);
}
