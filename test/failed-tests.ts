// Appends the notes from test/failure-notes.ts to a failed test's error.
import { beforeEach } from "vitest";
import { notesSince } from "./failure-notes.js";

beforeEach(({ onTestFailed }) => {
  const began = performance.now();
  onTestFailed(({ task }) => {
    const error = task.result?.errors?.[0];
    if (error === undefined) return;
    const note = notesSince(began)
      .map((text) => `\n\n${text}`)
      .join("");
    error.message += note;
  });
});
