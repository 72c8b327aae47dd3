// A clock that a test can set for its servers, even while they are running. It runs on from the time to which
// it was set.
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const MODULE = pathToFileURL(join(import.meta.dirname, "clock-module.mjs")).href;

export class ServerClock {
  readonly #place = join(tmpdir(), `skein-test-clock-${randomUUID()}`);
  readonly #file = join(this.#place, "shift-ms");

  /** Environment variables for servers that use the clock. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${MODULE}`, SKEIN_TEST_CLOCK: this.#file };
  }

  /**
   * Sets the clock, which then runs on from `time`. Must be called once before the first server starts. A
   * server that reads the clock during a call gets either the old or the new time.
   */
  set(time: string): void {
    mkdirSync(this.#place, { recursive: true });
    const written = join(this.#place, "written");
    writeFileSync(written, String(Date.parse(time) - Date.now()));
    renameSync(written, this.#file);
  }

  remove(): void {
    rmSync(this.#place, { recursive: true, force: true });
  }
}
