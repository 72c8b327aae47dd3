// Notes shown below the error of a failed test: the last lines of its servers' output, the seed of its
// stories. A passing test shows nothing. Knows nothing of Vitest, because programs that start servers import
// this as well.

export interface FailureNote {
  /** Empty if there is nothing to show. */
  text(): string;
}

/** Each with the time of its last use. */
const notes = new Map<FailureNote, number>();

/** Shows the note in every test running now that fails. */
export function noteForFailure(note: FailureNote): void {
  notes.set(note, performance.now());
}

/** The notes of everything used since then. */
export function notesSince(ms: number): string[] {
  const used = [...notes].filter(([, usedMs]) => usedMs >= ms);
  return used.map(([note]) => note.text()).filter((text) => text !== "");
}
