// The fixture's embedded model as plain values.
import type { PlainModel } from "../oracle/vectors/model.js";

export const MODEL: PlainModel = {
  slots: [
    { slot: 0, weight: 2, stemmed: true },
    { slot: 300, weight: 0.5, stemmed: false },
  ],
  terms: [
    { term: "\u0001!shoe", factor: 0.5, numbers: numbers((i) => (i % 2 === 0 ? 127 : -127)) },
    { term: "ab123", factor: 0.25, numbers: numbers((i) => (i % 255) - 127) },
    { term: "日本", factor: 0.0078125, numbers: numbers((i) => (i === 511 ? 127 : 0)) },
  ],
  documents: 1234,
  number: 7,
  aligned: true,
};

function numbers(of: (i: number) => number): number[] {
  return Array.from({ length: 512 }, (_, i) => of(i));
}
