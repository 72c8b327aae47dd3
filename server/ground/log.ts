// Writes structured logs, one JSON object per line. Writes are synchronous, so that nothing is lost when the
// process ends. Only this file uses pino.
import { writeSync } from "node:fs";
import { type Logger, pino } from "pino";
import type { LogLevel } from "./log-levels.js";
import { SourcePositions } from "./source-positions.js";

export type { Logger } from "pino";

const STANDARD_OUTPUT = 1;
const FULL_PIPE_WAIT_MS = 10;

/**
 * Returns a logger that writes to standard output or to the given file descriptor. Errors under `err` keep
 * their stack. If a line cannot be written (full disk, closed pipe), it is dropped and `onDropped` is called.
 */
export function createLogger(
  level: LogLevel,
  onDropped: () => void = () => undefined,
  fileDescriptor = STANDARD_OUTPUT,
): Logger {
  const positions = new SourcePositions();
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error) => withPositions(pino.stdSerializers.err(error), positions) },
    },
    new LineWriter(fileDescriptor, onDropped),
  );
}

/**
 * Replaces the positions in an error's stack with source positions. Returns a thrown value that is not an
 * error unchanged, because it has no stack.
 */
function withPositions(logged: unknown, positions: SourcePositions): unknown {
  if (typeof logged !== "object" || logged === null || !("stack" in logged)) return logged;
  return { ...logged, stack: positions.shownIn(String(logged.stack)) };
}

class LineWriter {
  readonly #fileDescriptor: number;
  readonly #onDropped: () => void;
  /** True if the output ends with a partial line. */
  #torn = false;

  constructor(fileDescriptor: number, onDropped: () => void) {
    this.#fileDescriptor = fileDescriptor;
    this.#onDropped = onDropped;
  }

  write(line: string): void {
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += this.#writeSome(bytes, written);
      this.#torn = false;
    } catch {
      this.#torn ||= written > 0;
      this.#onDropped();
    }
  }

  /**
   * Writes some of the bytes and returns how many. If the output is a non-blocking pipe that is full, waits
   * for its reader.
   */
  #writeSome(bytes: Buffer, from: number): number {
    for (;;) {
      try {
        return writeSync(this.#fileDescriptor, bytes, from);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT_MS);
      }
    }
  }
}
