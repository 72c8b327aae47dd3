// The amount of work in a test run. `npm test` does enough to find every reproducible fault; `npm run
// test:long` looks for rare ones: more stories, more kills, every combination.

const IS_LONG = process.env.SKEIN_TEST_LONG === "1"; // set by vitest.config.ts

/** Returns the number, list or condition for a normal test run, or the one for a long run. */
export function effort<T>(usual: T, long: T): T {
  return IS_LONG ? long : usual;
}
