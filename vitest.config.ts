// How `npm test` runs. Up to three processes run at a time: end-to-end and property files start real servers
// with several threads each, but some of these files spend most of their time waiting for a server. A process
// runs one file after another and loads modules only once for all of them, which works because modules keep
// no state (test/tidy) and tests undo their mocks. `--mode long` does more of the same work (test/effort.ts).
// Projects run in alphabetical order, "servers" first: its files take longer, so the processes finish at
// about the same time. The time limits are many times what a test takes on an idle machine, because the
// machine may be busy. test/hang-guard.ts ends a process that hangs, and reports where it hangs.
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
  // Repeated in each project: for a project that extends this configuration, Vitest evaluates this file again
  // with the mode "test", so the project would inherit the wrong value.
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
