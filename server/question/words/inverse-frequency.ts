/**
 * Computes BM25's inverse document frequency (Robertson and Sparck Jones 1976), in the form that is never
 * negative.
 */
export function inverseFrequency(frequency: number, documents: number): number {
  const df = Math.min(documents, frequency);
  return Math.log(1 + (documents - df + 0.5) / (df + 0.5));
}
