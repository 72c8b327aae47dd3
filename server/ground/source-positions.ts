// Maps positions in the built programs' stack traces to the sources: `file:///.../dist/chunks/shard.js:120:9`
// becomes `shards/shard.ts:88:5`. A source map is read only when a trace needs it, so it costs nothing at
// startup; `node --enable-source-maps` would read every map in every thread.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE_FOLDER } from "../../engine-wasm/host/runtime/built-files.js";

const BUILT_POSITION = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;

export class SourcePositions {
  /** Source positions already looked up, by built position, so that a recurring error costs no search. */
  readonly #known = new Map<string, string>();

  /** Replaces each position in a built file with its source position, if the file has a source map. */
  shownIn(text: string): string {
    const maps = new Map<string, SourceMap | null>();
    return text.replace(BUILT_POSITION, (position, url: string, line: string, column: string) => {
      let known = this.#known.get(position);
      if (known === undefined) {
        const file = fileURLToPath(url);
        const map = maps.get(file) ?? sourceMapOf(file);
        maps.set(file, map);
        known = sourcePosition(file, map, Number(line), Number(column)) ?? position;
        this.#known.set(position, known);
      }
      return known;
    });
  }
}

/**
 * Returns the file's source map. Null if there is none, because the file is a source file or belongs to a
 * package.
 */
function sourceMapOf(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8")));
  } catch {
    return null;
  }
}

/** Looks up the position in the source. Lines and columns count from 1. */
function sourcePosition(
  file: string,
  map: SourceMap | null,
  line: number,
  column: number,
): string | undefined {
  const found = map?.findEntry(line - 1, column - 1);
  if (found === undefined || !("originalSource" in found)) return undefined;
  const source = relative(PACKAGE_FOLDER, resolve(dirname(file), found.originalSource));
  return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
}
