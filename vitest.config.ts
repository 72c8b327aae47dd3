// How `npm test` runs: three processes at a time, because end-to-end and property files start real servers with several
// threads each, but some mostly wait for a server that waits. A process takes one file after the other and loads modules once
// for all of them: modules keep no state (test/tidy), and a test undoes its mocks. `--mode long` does more of the same
// (test/effort.ts). Projects go by name: the servers' files take longer and come first, so that the tail is short. The time limits
// are for machines that are busy with much else: many times what a test takes alone. A process that does not come back is ended
// by test/hang-guard.ts, which says where it is.
import { defineConfig } from "vitest/config";

const SERVER_FILES = [
  "test/e2e/**/*.test.ts",
  "test/property/**/*.test.ts",
  "test/crash/**/*.test.ts",
  "test/fuzz/**/*.test.ts",
  "test/torture/**/*.test.ts",
  "test/golden-search/**/*.test.ts",
];

export default defineConfig(({ mode }) => {
  const long = mode === "long";
  // Given to each project: what a project takes over by `extends` is read again, with the mode "test".
  const env = { SKEIN_TEST_LONG: long ? "1" : "0" };
  return {
    test: {
      pool: "forks",
      isolate: false,
      maxWorkers: 3,
      reporters: ["default"],
      teardownTimeout: 10_000,
      globalSetup: "test/build-when-stale.ts",
      setupFiles: ["test/hang-guard.ts", "test/failed-tests.ts", "test/interrupted-stories.ts"],
      projects: [
        {
          extends: true,
          test: {
            name: "servers",
            include: SERVER_FILES,
            env,
            testTimeout: long ? 3_600_000 : 300_000,
            hookTimeout: 180_000,
          },
        },
        {
          extends: true,
          test: {
            name: "units",
            include: ["test/**/*.test.ts"],
            exclude: SERVER_FILES,
            env,
            testTimeout: long ? 3_600_000 : 120_000,
            hookTimeout: 120_000,
          },
        },
      ],
    },
  };
});
