// A random catalogue for the query kernels' tests: documents with every field type in several segments, some
// of them deleted, together with the plain rows for a naive model.
import * as L from "../../../../engine-wasm/assembly/layout.js";
import type { BuildField } from "../../../../engine-wasm/host/instance/build.js";
import type { Engine, SnapshotEntry } from "../../../../engine-wasm/host/instance/engine.js";
import type { EngineModule } from "../../../../engine-wasm/host/instance/engine-module.js";
import { PLAIN_ANALYSIS, type Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { makeRow, type Row } from "../../../oracle/segments/rows.js";
import type { Document, Field, FieldType } from "../../../oracle/segments/values.js";
import { toRaw } from "./documents.js";

const ALL_FLAGS = L.FLAG_INDEX | L.FLAG_SORT | L.FLAG_FACET;
const TYPES: FieldType[] = ["string", "int32", "int64", "float", "bool", "string[]", "int32[]", "float[]"];

/**
 * A field's slot is its position in this list. `title` and `labels` have only hashes; the other strings have
 * dictionaries.
 */
export const FIELDS: (Field & { code: number; flags: number })[] = [
  { name: "title", type: "string", flags: L.FLAG_INDEX },
  { name: "tags", type: "string[]", flags: L.FLAG_INDEX | L.FLAG_FACET },
  { name: "brand", type: "string", flags: ALL_FLAGS },
  { name: "price", type: "float", flags: ALL_FLAGS },
  { name: "stock", type: "int32", flags: ALL_FLAGS },
  { name: "big", type: "int64", flags: ALL_FLAGS },
  { name: "on", type: "bool", flags: ALL_FLAGS },
  { name: "sizes", type: "int32[]", flags: L.FLAG_INDEX | L.FLAG_FACET },
  { name: "ratios", type: "float[]", flags: L.FLAG_INDEX | L.FLAG_FACET },
  { name: "labels", type: "string[]", flags: L.FLAG_INDEX },
].map((field) => ({ ...field, type: field.type as FieldType, code: TYPES.indexOf(field.type as FieldType) }));

export const TEXT_SLOTS = [0, 1, 2, 9];

const BUILD_FIELDS: BuildField[] = FIELDS.map(({ name, code, flags }, slot) => ({
  slot,
  name,
  type: code,
  flags,
  language: 0,
}));

export const WORDS =
  "shoe shoes shop sohe red read reed blue Blau x y 42 日本 𐌰a 𐌰 𐌰b 𐌱 ünder under the wonder thunder".split(
    " ",
  );
export const PRICES = [0, -0, 1.5, -2.25, 1e300, 5e-324, 3, 3.0000000000000004];
export const LARGE = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n, 9007199254740992n];

export type Pick = <T>(from: readonly T[]) => T;

/**
 * Returns a function that picks an element from a list at random; the same seed gives the same picks
 * (mulberry32).
 */
export function picker(seed: number): Pick {
  let state = seed;
  return (from) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return from[((mixed ^ (mixed >>> 14)) >>> 0) % from.length]!;
  };
}

function text(pick: Pick, counts: number[]): string {
  return Array.from({ length: pick(counts) }, () => pick(WORDS)).join(" ");
}

function many<T>(pick: Pick, make: () => T): T[] {
  return Array.from({ length: pick([0, 1, 2, 3]) }, make);
}

export function randomDocument(id: number, pick: Pick): Document {
  const members: [string, () => Document[string]][] = [
    ["title", () => text(pick, [0, 1, 2, 4, 9])],
    ["tags", () => many(pick, () => text(pick, [0, 1, 2]))],
    ["brand", () => pick(["Acme", "acme", "ACME ", "Zeta", "Ärger", "arger", "B", "", "日本"])],
    ["price", () => pick(PRICES)],
    ["stock", () => pick([0, 1, -1, 7, 2147483647, -2147483648])],
    ["big", () => pick(LARGE)],
    ["on", () => pick([true, false])],
    ["sizes", () => many(pick, () => pick([0, 1, -1, 36, 2147483647]))],
    ["ratios", () => many(pick, () => pick(PRICES))],
    ["labels", () => many(pick, () => text(pick, [1, 3, 5]))],
  ];
  const document: Document = { id: `d${id}` };
  for (const [name, make] of members) if (pick([1, 1, 1, 0]) === 1) document[name] = make();
  return document;
}

/** An engine with a snapshot, and its live documents. */
export interface Catalogue {
  engine: Engine;
  snapshot: number;
  entries: SnapshotEntry[];
  rows: Row[];
}

/**
 * Builds one segment per group. Documents are numbered over all groups; document n has sequence number 1000 +
 * 7 * n and is deleted if `isDead(n)`.
 */
export function makeCatalogue(
  module: EngineModule,
  bench: Workbench,
  groups: Document[][],
  isDead: (number: number) => boolean,
): Catalogue {
  const engine = module.engine();
  const rows: Row[] = [];
  let number = 0;
  const entries = groups.map((documents) => {
    const seqs = documents.map((_, i) => 1000 + 7 * (number + i));
    const built = bench.build({ fields: BUILD_FIELDS, analysis: PLAIN_ANALYSIS }, toRaw(documents, seqs));
    if (built.segment === null || built.failures.length > 0) throw new Error("the documents were refused");
    const segment = engine.attach(built.segment);
    const dead = documents.flatMap((_, row) => (isDead(number + row) ? [row] : []));
    const live = dead.length === 0 ? 0 : engine.liveAll(documents.length);
    for (const row of dead) engine.kill(live, row);
    documents.forEach((document, i) => {
      if (!dead.includes(i)) rows.push(makeRow(document, seqs[i]!, FIELDS, { symbols: "", separators: "" }));
    });
    number += documents.length;
    return { segment, live };
  });
  return { engine, snapshot: engine.setSnapshot(entries), entries, rows };
}

/** Cuts documents into groups of the given sizes; a last group gets the rest. Omits empty groups. */
export function groupsOf(documents: Document[], sizes: number[]): Document[][] {
  const groups: Document[][] = [];
  let from = 0;
  for (const size of [...sizes, documents.length]) {
    const group = documents.slice(from, from + size);
    if (group.length > 0) groups.push(group);
    from += size;
  }
  return groups;
}
