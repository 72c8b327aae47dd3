// Runs before any test: builds dist/ if a source file is newer, like `npm start`. Tests that use servers,
// threads or kernels run the built files.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

const BUILD = join(import.meta.dirname, "../scripts/build.mjs");

/** Vitest calls this once per project, but a single build serves all of them. */
export default function buildWhenStale(project: TestProject): void {
  if (!project.isRootProject()) return;
  const { status } = spawnSync(process.execPath, [BUILD, "--if-stale"], { stdio: "inherit" });
  if (status !== 0) throw new Error("the build has failed, so the tests would run what was built earlier");
}
