// Shows an import's progress on standard error. A terminal gets one line that is rewritten in place; any
// other output gets a line every few seconds. Shows documents per second, and estimates the remaining time
// from how many of the file's bytes have been read.

import type { Source } from "../../documents/formats/source.js";
import { grouped, truncate } from "../table.js";
import type { UploadCounts } from "./sender.js";

const REDRAW_MS = 100;
const PLAIN_LINE_MS = 5000;
const BAR_CELLS = 24;

export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export class UploadProgress {
  readonly #started = performance.now();
  #lastDrawn = performance.now();
  #drawn = false;

  constructor(
    private readonly source: Pick<Source, "totalBytes" | "bytesRead">,
    private readonly screen: Screen,
  ) {}

  update(counts: UploadCounts): void {
    const now = performance.now();
    if (now - this.#lastDrawn < (this.screen.isTTY === true ? REDRAW_MS : PLAIN_LINE_MS)) return;
    this.#lastDrawn = now;
    const line = progressLine(counts, this.seconds(), this.source.bytesRead(), this.source.totalBytes);
    if (this.screen.isTTY === true) {
      this.screen.write(`\r\x1b[2K${truncate(line, (this.screen.columns ?? 80) - 1)}`);
      this.#drawn = true;
    } else {
      this.screen.write(`${line}\n`);
    }
  }

  /** Clears the progress line, so that other output starts at the beginning of an empty line. */
  clear(): void {
    if (this.#drawn) this.screen.write("\r\x1b[2K");
    this.#drawn = false;
  }

  /** Seconds since the start. */
  seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }
}

/**
 * `[#####-----] 43 %  12,000 documents  9,800/s  0:12 left  3 rejected`; without a bar if the size is unknown.
 */
export function progressLine(
  counts: UploadCounts,
  seconds: number,
  read: number,
  total: number | null,
): string {
  const done = counts.succeeded + counts.rejected;
  const parts: string[] = [];
  const share = total === null || total === 0 ? null : Math.min(1, read / total);
  if (share !== null) {
    const full = Math.round(share * BAR_CELLS);
    parts.push(`[${"#".repeat(full)}${"-".repeat(BAR_CELLS - full)}] ${Math.floor(share * 100)} %`);
  }
  parts.push(`${grouped(done)} documents`, `${grouped(done / Math.max(seconds, 0.001))}/s`);
  if (share !== null && share > 0) parts.push(`${clock((seconds / share) * (1 - share))} left`);
  if (counts.rejected > 0) parts.push(`${grouped(counts.rejected)} rejected`);
  return parts.join("  ");
}

/** Formats a duration as 0:07, 12:30 or 1:02:03. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}
