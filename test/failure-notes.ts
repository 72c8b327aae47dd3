// Notes shown below the error of a failed test: the last lines of its servers' output, the seed of its
// stories. A passing test shows nothing. Independent of Vitest, because programs that start servers also
// import this file.

export interface FailureNote {
  /** Empty if there is nothing to show. */
  text(): string;
}

/** Each note with the time it was last used. */
const notes = new Map<FailureNote, number>();

/** Shows the note in every test that is running now and fails. */
export function noteForFailure(note: FailureNote): void {
  notes.set(note, performance.now());
}

/** The texts of the notes used since the time `ms`. */
export function notesSince(ms: number): string[] {
  const used = [...notes].filter(([, usedMs]) => usedMs >= ms);
  return used.map(([note]) => note.text()).filter((text) => text !== "");
}
