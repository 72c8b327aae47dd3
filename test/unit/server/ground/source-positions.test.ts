// Stack traces of built programs name the source files.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { builtFile } from "../../../../engine-wasm/host/runtime/built-files.js";
import { SourcePositions } from "../../../../server/ground/source-positions.js";
import { ROOT } from "../../../tidy/tree.js";

/** Returns the line and column of a text in a file, both counted from 1. */
function positionOf(text: string, file: string): [line: number, column: number] {
  const before = readFileSync(file, "utf8").split(text)[0]!.split("\n");
  return [before.length, before.at(-1)!.length + 1];
}

/** Returns the path of the shared chunk into which the bundler has put the module's code. */
function sharedPart(module: string): string {
  const name = /from "([^"]+errors[^"]*\.js)"/.exec(readFileSync(module, "utf8"))![1]!;
  return resolve(dirname(module), name);
}

test("a position in a built file is mapped to its source", () => {
  const built = sharedPart(builtFile("server/ground/errors.js"));
  const start = "if (error.details !== ";
  const [line, column] = positionOf(start, built);
  const [sourceLine, sourceColumn] = positionOf(start, join(ROOT, "server/ground/errors.ts"));
  const trace = (position: string) => `Error: no\n    at errorBody (${position})\n    at node:events:518:28`;
  const url = `${pathToFileURL(built)}:${line}:${column}`;
  expect(new SourcePositions().shownIn(trace(url))).toBe(
    trace(`server/ground/errors.ts:${sourceLine}:${sourceColumn}`),
  );
});

test("other positions stay unchanged", () => {
  const text = `at file:///nowhere/at-all.js:1:2 and ${import.meta.url}:3:4`;
  expect(new SourcePositions().shownIn(text)).toBe(text);
});
