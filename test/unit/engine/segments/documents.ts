// Random schemas and documents for build and merge tests. All choices come from one stream of numbers, so
// that fast-check can replay a failure.
import fc from "fast-check";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import type { BuildDocument, BuildField } from "../../../../engine-wasm/host/instance/build.js";
import { languageNumber } from "../../../../engine-wasm/host/stemmer.js";
import type { TwinDocument, TwinScalar } from "../../../oracle/segments/segment-twin.js";
import { type Json, printJson } from "../../../oracle/segments/values.js";

const WORDS =
  "red Red shoe shoes schön Ünder x 42 it's ﬁne 日本 AB-12 e\u0301 \ud83d\ude00 naïve the wi-fi 3.5 1/2 a.b.c.d.e.f".split(
    " ",
  );
const INTEGERS = [0, 1, -1, 7, 2147483647, -2147483648];
const LARGE = [0n, 5n, -5n, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n];
const FLOATS = [0, -0, 0.1, -2.5, 1e300, 5e-324, 3, 1 / 3];
const FLAGS_MAX = L.FLAG_FACET | L.FLAG_SORT | L.FLAG_INDEX;
const WHOLE_FLAGS = [0, 0, L.FLAG_SKU, L.FLAG_BRAND, L.FLAG_SKU | L.FLAG_BRAND];
const LANGUAGES = [0, 0, languageNumber("en"), languageNumber("de")];

/** 0 to 8 fields with distinct slots and names, in any order. */
export const anyFields: fc.Arbitrary<BuildField[]> = fc
  .uniqueArray(fc.integer({ min: 0, max: 300 }), { maxLength: 8 })
  .chain((slots) =>
    fc.tuple(
      ...slots.map((slot) =>
        fc.record({
          slot: fc.constant(slot),
          name: fc.constant(`f${slot}`),
          type: fc.integer({ min: 0, max: L.TYPE_FLOATS }),
          flags: fc
            .tuple(fc.integer({ min: 0, max: FLAGS_MAX }), fc.constantFrom(...WHOLE_FLAGS))
            .map(([column, whole]) => column | whole),
          language: fc.constantFrom(...LANGUAGES),
        }),
      ),
    ),
  );

type Pick = <T>(from: readonly T[]) => T;

function text(pick: Pick): string {
  const count = pick([0, 1, 1, 2, 3, 5]);
  return Array.from({ length: count }, () => pick(WORDS)).join(pick([" ", "  ", ", ", "-", "."]));
}

function scalar(type: number, pick: Pick): TwinScalar {
  if (type === L.TYPE_STRING || type === L.TYPE_STRINGS) return text(pick);
  if (type === L.TYPE_INT64) return pick(LARGE);
  if (type === L.TYPE_BOOL) return pick([true, false]);
  return pick(type === L.TYPE_FLOAT || type === L.TYPE_FLOATS ? FLOATS : INTEGERS);
}

function value(type: number, pick: Pick): TwinScalar | TwinScalar[] {
  if (type < L.TYPE_STRINGS) return scalar(type, pick);
  return Array.from({ length: pick([0, 1, 2, 3]) }, () => scalar(type, pick));
}

/** Returns `count` documents with distinct ids; fields may be missing or null. */
export function anyDocuments(fields: BuildField[], count: number, random: fc.Stream<number>): TwinDocument[] {
  const pick: Pick = (from) => from[(random.next().value as number) % from.length]!;
  return Array.from({ length: count }, (_, i) => {
    const document: TwinDocument = { id: `id ${i}` };
    for (const field of fields) {
      const kind = pick(["value", "value", "value", "null", "missing"]);
      if (kind !== "missing") document[field.name] = kind === "null" ? null : value(field.type, pick);
    }
    return document;
  });
}

/** Returns ascending sequence numbers with gaps. */
export function seqsOf(count: number): number[] {
  return Array.from({ length: count }, (_, i) => 2 ** 40 + 3 * i);
}

export function toRaw(documents: readonly unknown[], seqs: readonly number[]): BuildDocument[] {
  return documents.map((document, i) => ({ seq: seqs[i]!, raw: Buffer.from(printJson(document as Json)) }));
}
