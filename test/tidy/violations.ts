// Reports a rule's violations: the rule's reason, and one line per violation.
import { expect } from "vitest";
import type { Source } from "./tree.js";

/** Fails with the rule's reason and one line per violation. */
export function expectNone(violations: string[], why: string): void {
  expect(violations.length, `${why}\n  ${violations.join("\n  ")}`).toBe(0);
}

export function linesMatching(source: Source, pattern: RegExp): string[] {
  return source.text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${source.path}:${index + 1} ${line.trim()}`] : []));
}
