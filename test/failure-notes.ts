// Notes shown below a failed test's error: the last lines of its servers' output, the seed of its stories. A
// passing test shows nothing. Does not import Vitest, because programs that start servers also import this
// file.

export interface FailureNote {
  /** Empty if there is nothing to show. */
  text(): string;
}

/** When each note was last used (ms). */
const notes = new Map<FailureNote, number>();

/** If a currently running test fails, the note is shown with its error. */
export function noteForFailure(note: FailureNote): void {
  notes.set(note, performance.now());
}

/** Returns the texts of the notes used at or after `ms`. */
export function notesSince(ms: number): string[] {
  const used = [...notes].filter(([, usedMs]) => usedMs >= ms);
  return used.map(([note]) => note.text()).filter((text) => text !== "");
}
