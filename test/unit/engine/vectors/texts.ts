// Documents with text in several fields for the tests of embedded models: with and without a language, with
// part numbers.
import * as L from "../../../../engine-wasm/assembly/layout.js";
import type { BuildField } from "../../../../engine-wasm/host/instance/build.js";
import { PLAIN_ANALYSIS, type Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { languageNumber } from "../../../../engine-wasm/host/stemmer.js";
import type { Embedder } from "../../../../engine-wasm/host/vectors/embedder.js";
import type { Pick } from "../segments/catalogue.js";
import { toRaw } from "../segments/documents.js";

export const TEXT_FIELDS: BuildField[] = [
  { slot: 1, name: "title", type: L.TYPE_STRING, flags: L.FLAG_INDEX, language: languageNumber("en") },
  { slot: 2, name: "labels", type: L.TYPE_STRINGS, flags: L.FLAG_INDEX | L.FLAG_FACET, language: 0 },
  { slot: 5, name: "text", type: L.TYPE_STRING, flags: L.FLAG_INDEX, language: languageNumber("en") },
  { slot: 7, name: "code", type: L.TYPE_STRING, flags: L.FLAG_INDEX | L.FLAG_SKU, language: 0 },
];

/** The fields from which vectors are made. `code` is not among them. */
export const TEXT_SLOTS = [
  { slot: 1, weight: 2, stemmed: true },
  { slot: 2, weight: 0.5, stemmed: false },
  { slot: 5, weight: 1, stemmed: true },
];

export interface TextDocument {
  id: string;
  title: string;
  labels: string[];
  text: string;
  code: string;
}

const TOPICS = [
  "running shoes for the forest with grips laces soles mesh trail marathon sock 42",
  "coffee machines beans grinders cups milk espresso filters water 1200w kettle",
  "laptops screens keyboards memory drives usb2 chargers batteries displays hdmi4",
  "tents sleeping bags stoves lanterns camping ropes poles backpack 30l",
].map((words) => words.split(" "));

/** Returns a document whose words come from one or two topics. Its fields are occasionally empty or long. */
export function textDocument(id: number, pick: Pick, vocabulary: readonly string[][] = TOPICS): TextDocument {
  const topic = [pick(vocabulary), pick(vocabulary)];
  const words = (counts: number[]): string =>
    Array.from({ length: pick(counts) }, () => pick(pick([topic[0]!, topic[0]!, topic[1]!]))).join(" ");
  return {
    id: `d${id}`,
    title: words([0, 1, 3, 5]),
    labels: Array.from({ length: pick([0, 1, 2]) }, () => words([1, 2])),
    text: words([0, 5, 20, 20, 200]),
    code: words([1]),
  };
}

export function textSegment(
  bench: Workbench,
  documents: readonly TextDocument[],
  firstSeq = 1,
): Uint8Array<ArrayBuffer> {
  const seqs = documents.map((_, i) => firstSeq + i);
  const { segment, failures } = bench.build(
    { fields: TEXT_FIELDS, analysis: PLAIN_ANALYSIS },
    toRaw(documents, seqs),
  );
  if (segment === null || failures.length > 0) throw new Error("the documents were refused");
  return segment;
}

/** Returns all rows' records. */
export function embedAll(embedder: Embedder, segment: Uint8Array): Uint8Array {
  const steps = embedder.embed(segment);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export function recordsOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / L.VECTOR_BYTES }, (_, i) =>
    bytes.subarray(i * L.VECTOR_BYTES, (i + 1) * L.VECTOR_BYTES),
  );
}
