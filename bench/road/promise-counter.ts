// Counts the promises that a server's main thread makes, with the meter that is preloaded into the server.
import { builtFile } from "../../engine-wasm/host/runtime/built-files.js";
import type { MeterReading } from "./query-meter.js";

export const METER_FLAG = `--import=${builtFile("bench/road/query-meter.js")}`;

export class PromiseCounter {
  #onReading: ((reading: MeterReading) => void) | null = null;

  /** Ignores unrelated lines. */
  read(line: string): void {
    if (line.startsWith('{"meter":')) this.#onReading?.(JSON.parse(line).meter);
  }

  /** Number of promises that the process makes during the work. Counting slows it down. */
  async during(pid: number, work: () => Promise<unknown>): Promise<number> {
    await this.#reading(pid);
    await work();
    return (await this.#reading(pid)).promises;
  }

  #reading(pid: number): Promise<MeterReading> {
    return new Promise((resolve) => {
      this.#onReading = resolve;
      process.kill(pid, "SIGUSR2");
    });
  }
}
