// The names of the log levels, most severe first. They have a file of their own, so that a command that only
// reads the configuration does not load the logging library.

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
