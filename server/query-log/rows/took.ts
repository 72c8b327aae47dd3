// Durations of searches in steps of at most 3 %: fine enough for percentiles, and few enough to be counted
// individually. A step is a number of hundredths of a millisecond reduced to its six highest bits
// (HdrHistogram, Gil Tene).

const STEPS_PER_DOUBLING = 32;
const HUNDREDTHS_MAX = 2 ** 31 - 1;

/** Below 1,000. */
export function tookStep(ms: number): number {
  const hundredths = Math.min(HUNDREDTHS_MAX, Math.max(0, Math.round(ms * 100)));
  const shift = Math.max(0, 31 - Math.clz32(hundredths) - 5);
  return shift * STEPS_PER_DOUBLING + (hundredths >> shift);
}

/** The shortest duration of a step, in milliseconds. */
export function stepMs(step: number): number {
  const shift = Math.max(0, Math.floor(step / STEPS_PER_DOUBLING) - 1);
  return ((step - shift * STEPS_PER_DOUBLING) * 2 ** shift) / 100;
}

/**
 * The duration that this fraction of the searches did not exceed (nearest rank), in milliseconds; 0 without
 * searches.
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
