/**
 * Returns the middle value; for an even count, the larger of the two middle values. Needs at least one value.
 */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
