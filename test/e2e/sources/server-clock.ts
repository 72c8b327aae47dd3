// A clock for servers that the test sets, also while they run. It goes on from where it is set.
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const MODULE = pathToFileURL(join(import.meta.dirname, "clock-module.mjs")).href;

export class ServerClock {
  readonly #place = join(tmpdir(), `skein-test-clock-${randomUUID()}`);
  readonly #file = join(this.#place, "shift-ms");

  /** Of the servers that have the clock. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${MODULE}`, SKEIN_TEST_CLOCK: this.#file };
  }

  /** Comes before the first server. A server reads the old or the new time, and nothing between. */
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
