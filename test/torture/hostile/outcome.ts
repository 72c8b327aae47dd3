// What was seen while a server was attacked, and what is wrong with it.
import type { Attack } from "./attack.js";
import type { Counts } from "./attacker.js";
import type { VisitorReport } from "./visitor.js";

export interface Seen {
  readonly attack: Attack;
  /** The machine's load average over a minute when the attack began: what else kept its processors busy. */
  readonly load: number;
  readonly counts: Counts;
  readonly same: VisitorReport;
  readonly other: VisitorReport;
  /** Resident memory in MiB: before, at most, and after the rest. */
  readonly resident: { readonly before: number; readonly peak: number; readonly after: number };
  /** Whether the process was alive until it was told to stop. */
  readonly lived: boolean;
  /** Milliseconds until no request was in flight, a minute at most; null after a stop. */
  readonly drainMs: number | null;
  /** Milliseconds from SIGTERM to the end of the process, and its exit code. */
  readonly stop: { readonly ms: number; readonly code: number | null };
  /** Messages of error lines in the server's log. */
  readonly errors: readonly string[];
}

/** `findings`: the bounds that do not hold, as sentences. */
export interface Outcome extends Seen {
  readonly findings: readonly string[];
}
