// Creates, changes and deletes curated records. Each operation is a single catalog command, validated against
// the index's state when the command runs. The table of kinds is in curated-kinds.ts.
import type { Catalog } from "../catalog/catalog.js";
import { KINDS } from "../catalog/kinds.js";
import { type OwnedCommand, ownedBy } from "../catalog/owned-records.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { CatalogState } from "../catalog/state.js";
import { SkeinError } from "../ground/errors.js";
import { CURATED, type Curated, type CuratedKind, type CurationTools, ruleTexts } from "./curated-kinds.js";

export class Curation {
  readonly #catalog: Catalog;
  readonly #tools: CurationTools;

  constructor(catalog: Catalog, tools: CurationTools) {
    this.#catalog = catalog;
    this.#tools = tools;
  }

  /**
   * Creates a record. Throws the kind's `invalid` code for an invalid body, SK-IX-404 if the index no longer
   * exists.
   */
  async create<K extends CuratedKind>(kind: K, index: IndexRecord, body: unknown): Promise<Curated<K>> {
    let made: Curated<K> | undefined;
    await this.#catalog.change((state) => {
      made = this.made(kind, state, index, body);
      return put(kind, made);
    });
    return made!;
  }

  /**
   * Returns the record described by a body, for the caller to add to this state. Throws the same errors as
   * `create`.
   */
  made<K extends CuratedKind>(kind: K, state: CatalogState, index: IndexRecord, body: unknown): Curated<K> {
    const { limits, analyserOf } = this.#tools;
    const { noun, invalid, countMax, read } = CURATED[kind];
    const record = present(state, index);
    const draft = read(body, null, limits, ruleTexts(analyserOf, limits, record));
    const { length: count } = ownedBy(state, kind, record.uid);
    if (count >= limits[countMax])
      throw new SkeinError(invalid, `the index has ${count} ${noun}s, which is the maximum`);
    const now = new Date().toISOString();
    const id = state[KINDS[kind].counter];
    const made = { id, index: record.uid, ...draft, created_at: now, updated_at: now } as Curated<K>;
    this.#checkBytes(kind, state, made);
    return made;
  }

  /**
   * Changes a record. Throws the kind's `invalid` code for an invalid body, and its `missing` code if the
   * record does not exist.
   */
  async change<K extends CuratedKind>(
    kind: K,
    index: IndexRecord,
    id: string,
    body: unknown,
  ): Promise<Curated<K>> {
    const { limits, analyserOf } = this.#tools;
    let changed: Curated<K> | undefined;
    await this.#catalog.change((state) => {
      const before = findCurated(kind, state, index, id);
      const texts = ruleTexts(analyserOf, limits, present(state, index));
      const draft = CURATED[kind].read(body, before, limits, texts);
      changed = { ...before, ...draft, updated_at: new Date().toISOString() };
      this.#checkBytes(kind, state, changed);
      return put(kind, changed);
    });
    return changed!;
  }

  /** Deletes a record and returns its id. Throws the kind's `missing` code if there is no such record. */
  async remove(kind: CuratedKind, index: IndexRecord, id: string): Promise<number> {
    let removed = 0;
    await this.#catalog.change((state) => {
      removed = findCurated(kind, state, index, id).id;
      return { type: "record.delete", kind, index: index.uid, id: removed };
    });
    return removed;
  }

  #checkBytes<K extends CuratedKind>(kind: K, state: CatalogState, record: Curated<K>): void {
    const { noun, invalid, bytesMax: limit } = CURATED[kind];
    const bytesMax = this.#tools.limits[limit];
    if (!overflows(ownedBy(state, kind, record.index), record, bytesMax)) return;
    const sentence = `the ${noun}s of the index would exceed ${bytesMax} bytes in total (${limit})`;
    throw new SkeinError(invalid, sentence);
  }
}

/**
 * Returns the command that stores the record. The cast is needed because the compiler cannot see that `kind`
 * and `record` belong together.
 */
function put<K extends CuratedKind>(kind: K, record: Curated<K>): OwnedCommand {
  return { type: "record.put", kind, record } as OwnedCommand;
}

type AnyCurated = Curated<CuratedKind>;

/** Size of each record in bytes of JSON. Records never change, so one map per thread suffices. */
const knownBytes = new WeakMap<AnyCurated, number>();

function bytesOf(record: AnyCurated): number {
  const bytes = knownBytes.get(record) ?? Buffer.byteLength(JSON.stringify(record));
  knownBytes.set(record, bytes);
  return bytes;
}

/**
 * True if the records would exceed `bytesMax` with `changed`. A change that does not enlarge its record is
 * always allowed.
 */
function overflows(records: readonly AnyCurated[], changed: AnyCurated, bytesMax: number): boolean {
  const before = records.find(({ id }) => id === changed.id);
  if (before !== undefined && bytesOf(changed) <= bytesOf(before)) return false;
  const others = records.reduce((sum, record) => sum + (record === before ? 0 : bytesOf(record)), 0);
  return others + bytesOf(changed) > bytesMax;
}

/** Finds the index's record by the id in the path. Throws the kind's `missing` code if there is none. */
export function findCurated<K extends CuratedKind>(
  kind: K,
  state: CatalogState,
  index: IndexRecord,
  id: string,
): Curated<K> {
  const record = ownedBy(state, kind, index.uid).find((candidate) => String(candidate.id) === id);
  if (record !== undefined) return record;
  const { noun, missing } = CURATED[kind];
  throw new SkeinError(missing, `the index has no such ${noun}`);
}

/**
 * Returns the index's current record. Throws SK-IX-404 if the index has been deleted since the request began.
 */
function present(state: CatalogState, { uid, name }: IndexRecord): IndexRecord {
  const record = state.indexes.get(uid);
  if (record !== undefined) return record;
  throw new SkeinError("SK-IX-404", `the index "${name}" does not exist`);
}
