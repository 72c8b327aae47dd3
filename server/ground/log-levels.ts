// The names of the log levels, the most severe first. They stand apart from the logger: commands that only read the
// configuration do without its library.

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
