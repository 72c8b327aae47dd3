// The amount of work a run does. `npm test` does enough to find every reproducible fault; `npm run test:long`
// looks for rare ones: more stories, more kills, every combination.

const IS_LONG = process.env.SKEIN_TEST_LONG === "1"; // set by vitest.config.ts

/** The number, list or condition of the usual run, or that of the long one. */
export function effort<T>(usual: T, long: T): T {
  return IS_LONG ? long : usual;
}
