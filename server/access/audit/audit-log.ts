// The audit log has one line per change. A change is answered only after its line has been written. This
// class is the only writer of the log's files and rotates them by size. A crash may leave an incomplete line;
// the next entry then starts on a new line, and readers skip the incomplete one.
import { type FileHandle, open } from "node:fs/promises";
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import { syncDirectory } from "../../ground/data-dir/durable-files.js";
import { fault } from "../../ground/fault.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { AuditMeter } from "../../ground/metrics/recorder.js";
import { auditFile, olderNumbers, rotate } from "./audit-files.js";
import {
  type AuditFile,
  type AuditFilter,
  type AuditPage,
  entriesBackwards,
  readPage,
} from "./audit-reader.js";
import type { NewEntry } from "./entry.js";

const FILE_MODE = 0o600;
const NEWLINE = 0x0a;

interface Options {
  readonly directory: string;
  /**
   * With "os", a line is handed to the operating system but not synced to disk. Documents are written with
   * the same setting.
   */
  readonly durability: "fsync" | "os";
  readonly limits: Limits;
  readonly meter: AuditMeter;
  readonly log: Logger;
}

interface Written {
  readonly file: FileHandle;
  bytes: number;
}

export class AuditLog {
  readonly #options: Options;
  /**
   * The open current file. Null before the first line and after a failed write: the next write then opens the
   * file and, if its last line is unfinished, ends that line.
   */
  #written: Written | null = null;
  #seq: number | null = null;
  #waiting: NewEntry[] = [];
  #group: Promise<void> | null = null;
  readonly #lane = new Lane();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Resolves when the line has been written and, with durability "fsync", synced. Never rejects, because the
   * change has already been made: a line that cannot be written is counted as dropped and goes to the
   * server's log instead.
   */
  append(entry: NewEntry): Promise<void> {
    this.#waiting.push(entry);
    // Lines that arrive during a write are written together after it.
    this.#group ??= this.#lane.run(() => this.#writeWaiting());
    return this.#group;
  }

  /** Returns matching entries, newest first. Throws the operating system's error if a file is unreadable. */
  async read(filter: AuditFilter, limit: number, signal: AbortSignal): Promise<AuditPage> {
    // The lane runs this between two writes, so no rotation renames files while they are being opened.
    const files = await this.#lane.run(() => this.#openAll());
    try {
      return await readPage(files, filter, limit, signal);
    } finally {
      for (const { file } of files) await file.close();
    }
  }

  /** Waits for pending lines, then closes the file. */
  async close(): Promise<void> {
    await this.#lane.run(() => this.#closeFile());
  }

  async #writeWaiting(): Promise<void> {
    const { meter, log } = this.#options;
    const entries = this.#waiting;
    this.#waiting = [];
    this.#group = null;
    try {
      await this.#write(entries);
      meter.lines += entries.length;
    } catch (error) {
      meter.dropped += entries.length;
      for (const entry of entries) log.error({ err: error, audit: entry }, "a line of the audit log is lost");
      await this.#closeFile().catch(() => undefined); // the reason is already in the log
    }
  }

  async #write(entries: readonly NewEntry[]): Promise<void> {
    const { directory, limits, durability } = this.#options;
    this.#seq ??= await this.#lastSeq();
    let seq = this.#seq;
    this.#seq += entries.length; // counts lost lines, so that the log shows a gap
    const lines = Buffer.from(
      entries.map((entry) => `${JSON.stringify({ seq: ++seq, ...entry })}\n`).join(""),
    );
    fault("audit.before-line");
    this.#written ??= await this.#openFile();
    if (this.#written.bytes > 0 && this.#written.bytes + lines.length > limits.auditFileBytesMax) {
      await this.#closeFile();
      await rotate(directory, limits.auditFilesMax);
      this.#written = await this.#openFile();
    }
    const { file } = this.#written;
    await file.appendFile(lines);
    this.#written.bytes += lines.length;
    if (durability === "fsync") await file.datasync();
    fault("audit.after-line");
  }

  /** Opens the current file and makes sure it ends with a complete line. */
  async #openFile(): Promise<Written> {
    const { directory } = this.#options;
    const file = await open(auditFile(directory, 0), "a+", FILE_MODE);
    try {
      const { size } = await file.stat();
      const torn = size > 0 && (await byteAt(file, size - 1)) !== NEWLINE;
      if (torn) await file.appendFile("\n");
      if (size === 0) await syncDirectory(directory);
      return { file, bytes: torn ? size + 1 : size };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #closeFile(): Promise<void> {
    const written = this.#written;
    this.#written = null;
    await written?.file.close();
  }

  /** The last line's number, or 0 if there are no lines. */
  async #lastSeq(): Promise<number> {
    const files = await this.#openAll();
    try {
      for (const file of files)
        for await (const [entry] of entriesBackwards(file)) if (entry) return entry.seq;
      return 0;
    } finally {
      for (const { file } of files) await file.close();
    }
  }

  /** Opens all files, newest first. The caller closes them. */
  async #openAll(): Promise<AuditFile[]> {
    const { directory } = this.#options;
    const files: AuditFile[] = [];
    try {
      for (const number of [0, ...(await olderNumbers(directory))]) {
        const file = await openIfThere(auditFile(directory, number));
        if (file !== null) files.push({ file, bytes: (await file.stat()).size });
      }
      return files;
    } catch (error) {
      for (const { file } of files) await file.close();
      throw error;
    }
  }
}

/**
 * Returns null if the file is missing. The current file is missing before the first line and after an
 * interrupted rotation.
 */
async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function byteAt(file: FileHandle, place: number): Promise<number> {
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, place);
  return byte[0]!;
}
