// The last lines of a server's output, shown when a test fails.
import { SourcePositions } from "../../../server/ground/source-positions.js";
import type { FailureNote } from "../../failure-notes.js";

const LAST_LINES = 40;

/** The last lines that a server printed to standard output and standard error. */
export class LastLines implements FailureNote {
  readonly #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LAST_LINES) this.#lines.shift();
  }

  text(): string {
    if (this.#lines.length === 0) return "";
    return `the server's last lines:\n${new SourcePositions().shownIn(this.#lines.join("\n"))}`;
  }
}

export function onLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(line);
  });
}
