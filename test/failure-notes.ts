// What a failed test shows below its error: the last lines of the servers it used, the seed of its stories. A test that
// passes shows nothing. Knows nothing of Vitest: programs that start servers import this as well.

export interface FailureNote {
  /** Empty when there is nothing to say. */
  text(): string;
}

/** With the time of the last use. */
const notes = new Map<FailureNote, number>();

/** Every test that is running now shows the note if it fails. */
export function noteForFailure(note: FailureNote): void {
  notes.set(note, performance.now());
}

/** The notes of everything used since then. */
export function notesSince(ms: number): string[] {
  const used = [...notes].filter(([, usedMs]) => usedMs >= ms);
  return used.map(([note]) => note.text()).filter((text) => text !== "");
}
