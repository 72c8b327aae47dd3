// Reads the audit log backwards, block by block, so that even a large log costs little memory and never
// blocks the event loop for long.
import type { FileHandle } from "node:fs/promises";
import { type AuditEntry, parseEntry } from "./entry.js";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** The first `bytes` bytes of a file. Anything appended later is not read. */
export interface AuditFile {
  readonly file: FileHandle;
  readonly bytes: number;
}

/** Selects entries. A null member matches every entry. */
export interface AuditFilter {
  /**
   * Both bounds are exclusive: `beforeSeq` selects entries with a smaller number, `beforeMs` entries with an
   * earlier time (Unix milliseconds).
   */
  readonly beforeSeq: number | null;
  readonly beforeMs: number | null;
  readonly tenant: string | null;
  readonly action: string | null;
  /** "bootstrap" selects changes made with the bootstrap admin key. */
  readonly keyId: number | "bootstrap" | null;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Pass this as `beforeSeq` to get the next page. Absent on the last page. */
  readonly next?: number;
}

/**
 * Returns the newest `limit` entries that match the filter, newest first. `files` must also be ordered newest
 * first.
 */
export async function readPage(
  files: readonly AuditFile[],
  filter: AuditFilter,
  limit: number,
  signal: AbortSignal,
): Promise<AuditPage> {
  const entries: AuditEntry[] = [];
  for (const file of files) {
    for await (const block of entriesBackwards(file)) {
      signal.throwIfAborted();
      for (const entry of block) {
        if (!lets(filter, entry)) continue;
        if (entries.length === limit) return { entries, next: entries.at(-1)!.seq };
        entries.push(entry);
      }
    }
  }
  return { entries };
}

function lets({ beforeSeq, beforeMs, tenant, action, keyId }: AuditFilter, entry: AuditEntry): boolean {
  return (
    (beforeSeq === null || entry.seq < beforeSeq) &&
    (beforeMs === null || Date.parse(entry.time) < beforeMs) &&
    (tenant === null || entry.tenant === tenant) &&
    (action === null || entry.action === action) &&
    (keyId === null || entry.key_id === (keyId === "bootstrap" ? null : keyId))
  );
}

/** Yields the file's entries in groups, newest first. Skips invalid lines. */
export async function* entriesBackwards({ file, bytes }: AuditFile): AsyncGenerator<AuditEntry[]> {
  /** End of a line that starts in a block not read yet. */
  let rest: Uint8Array = NOTHING;
  for (let end = bytes; end > 0; ) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const block = Buffer.alloc(end - from);
    await readFully(file, block, from);
    const text = Buffer.concat([block, rest]);
    const start = from === 0 ? 0 : text.indexOf(NEWLINE) + 1;
    // A line that spans a whole block is longer than any valid line, so drop what has been read of it.
    rest = start === 0 ? NOTHING : text.subarray(0, start);
    const lines = start === 0 && from > 0 ? [] : text.toString("utf8", start).split("\n");
    yield lines.reverse().flatMap((line) => parseEntry(line) ?? []);
    end = from;
  }
}

async function readFully(file: FileHandle, into: Buffer, at: number): Promise<void> {
  for (let read = 0; read < into.length; ) {
    const { bytesRead } = await file.read(into, read, into.length - read, at + read);
    if (bytesRead === 0) throw new Error("a file of the audit log has become shorter");
    read += bytesRead;
  }
}
