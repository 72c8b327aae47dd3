// Rounds search durations down to steps of about 3%, which is fine enough for percentiles and keeps the
// number of counters small. A step encodes a duration in hundredths of a millisecond and keeps only its six
// highest bits (HdrHistogram, Gil Tene).

const STEPS_PER_DOUBLING = 32;
const HUNDREDTHS_MAX = 2 ** 31 - 1;

/** Returns a duration's step, a number below 1,000. */
export function tookStep(ms: number): number {
  const hundredths = Math.min(HUNDREDTHS_MAX, Math.max(0, Math.round(ms * 100)));
  const shift = Math.max(0, 31 - Math.clz32(hundredths) - 5);
  return shift * STEPS_PER_DOUBLING + (hundredths >> shift);
}

/** Returns a step's shortest duration in milliseconds. */
export function stepMs(step: number): number {
  const shift = Math.max(0, Math.floor(step / STEPS_PER_DOUBLING) - 1);
  return ((step - shift * STEPS_PER_DOUBLING) * 2 ** shift) / 100;
}

/**
 * Returns the duration (ms) that the given fraction of the searches did not exceed (nearest rank), or 0 if
 * there are no searches.
 */
export function percentileMs(searchesByStep: ReadonlyMap<number, number>, part: number): number {
  const steps = [...searchesByStep].sort(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, searches]) => sum + searches, 0);
  let left = Math.ceil(total * part);
  for (const [step, searches] of steps) {
    left -= searches;
    if (left <= 0) return stepMs(step);
  }
  return 0;
}
