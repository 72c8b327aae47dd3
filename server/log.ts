// Structured logs: one JSON object per line, written at once so that nothing is lost when the process
// ends. The only file that knows pino.
import { type Logger, pino } from "pino";

export type { Logger } from "pino";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A logger on standard output, or on the given file descriptor. Errors under `err` keep their stack. */
export function createLogger(level: LogLevel, fileDescriptor = 1): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: fileDescriptor, sync: true }),
  );
}
