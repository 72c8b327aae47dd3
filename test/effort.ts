// How much work a test run does. `npm test` does enough to find every reproducible fault; `npm run test:long`
// looks for rare faults: more stories, more kills, every combination.

const IS_LONG = process.env.SKEIN_TEST_LONG === "1"; // set by vitest.config.ts

/** Returns `usual` in a normal test run, `long` in a long run. */
export function effort<T>(usual: T, long: T): T {
  return IS_LONG ? long : usual;
}
