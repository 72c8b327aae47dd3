// If a server is started without memory settings, it restarts itself with them in the same process (execve).
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TestServer } from "../world/harness.js";

test.skipIf(process.platform !== "linux" || !("execve" in process))(
  "serve restarts its process once with its memory settings",
  async () => {
    const server = await TestServer.start();
    try {
      expect(readFileSync(`/proc/${server.pid}/environ`, "utf8")).toContain("MALLOC_TRIM_THRESHOLD_=131072");
      expect(readFileSync(`/proc/${server.pid}/cmdline`, "utf8")).toContain("--max-semi-space-size=4");
    } finally {
      await server.close();
    }
  },
);
