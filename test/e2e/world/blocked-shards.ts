// Blocks a shard's thread for as long as a test wants, so that requests to the shard wait.
// faults/shard-blocker.mjs, which is preloaded into the server, does the blocking.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, type StartOptions } from "./harness.js";

export class BlockedShards {
  readonly #folder = mkdtempSync(join(tmpdir(), "skein-block-"));

  /** Environment variables for the server. */
  get env(): NonNullable<StartOptions["env"]> {
    return {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "../faults/shard-blocker.mjs")}`,
      SKEIN_TEST_BLOCK_DIR: this.#folder,
    };
  }

  /** Blocks the shard's thread during `work`. */
  async while<T>(shard: number, work: () => Promise<T>): Promise<T> {
    const order = join(this.#folder, String(shard));
    const held = `${order}.held`;
    writeFileSync(order, "");
    try {
      await eventually(async () => existsSync(held), `shard ${shard} is blocked`);
      return await work();
    } finally {
      rmSync(held, { force: true });
    }
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
