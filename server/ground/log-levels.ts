// The names of the log levels, most severe first. Separate from the logger, so that commands that only read
// the configuration do not load the logging library.

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
