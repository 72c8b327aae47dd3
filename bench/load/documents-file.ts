// Writes a workload's documents to a JSON lines file before measuring, so that reading and generating them do
// not burden the server. Uses the command line's readers and schema inference. Keeps a uniform sample from
// which queries are drawn.

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { inferFrom } from "../../server/cli/commands/import.js";
import { openDocuments } from "../../server/documents/formats/documents.js";
import type { InferredSchema } from "../../server/documents/formats/infer.js";
import { openSource, type Source } from "../../server/documents/formats/source.js";
import { generateCatalogue } from "../catalogue/generate.js";
import { Random } from "../random.js";
import type { SampleDocument } from "./queries.js";
import type { Workload } from "./workload.js";

const SAMPLE_FOR_SCHEMA = 2000;
const SAMPLE_FOR_QUERIES = 3000;
const LINES_PER_CHUNK = 256;
const NEWLINE = 0x0a;
const SPACE = 0x20;

export interface DocumentsFile {
  readonly name: string;
  readonly path: string;
  readonly schema: InferredSchema;
  readonly documents: number;
  /** Total bytes of JSON, excluding line ends. */
  readonly jsonBytes: number;
  readonly sample: readonly SampleDocument[];
}

/** Writes the documents to `path`, one per line. */
export async function writeDocuments(
  data: Workload["data"],
  seed: number,
  idField: string | null,
  path: string,
): Promise<DocumentsFile> {
  const source = "file" in data ? await openSource(data.file, null) : generated(data.generate, data.seed);
  const input = await openDocuments(source, {
    idField,
    delimiter: null,
    sampleDocuments: SAMPLE_FOR_SCHEMA,
  });
  const { schema } = inferFrom(input, source);
  const kept = new Reservoir(SAMPLE_FOR_QUERIES, new Random(seed));
  const file = createWriteStream(path);
  let jsonBytes = 0;
  for await (const group of input.all(new Map(schema.fields.map((field) => [field.name, field.type])))) {
    const lines: Uint8Array[] = [];
    for (const document of group) {
      if (document.problem !== undefined) continue;
      jsonBytes += document.bytes.length;
      kept.offer(document.bytes);
      lines.push(onOneLine(document.bytes));
    }
    if (!file.write(Buffer.concat(lines))) await once(file, "drain");
  }
  file.end();
  await finished(file);
  return { name: source.name, path, schema, documents: kept.offered, jsonBytes, sample: kept.parsed() };
}

/** A uniform sample from a stream of unknown length (reservoir sampling). */
class Reservoir {
  offered = 0;
  readonly #kept: Buffer[] = [];

  constructor(
    private readonly size: number,
    private readonly random: Random,
  ) {}

  offer(bytes: Uint8Array): void {
    this.offered++;
    if (this.#kept.length < this.size) {
      this.#kept.push(Buffer.from(bytes));
      return;
    }
    const at = this.random.below(this.offered);
    if (at < this.size) this.#kept[at] = Buffer.from(bytes);
  }

  parsed(): SampleDocument[] {
    return this.#kept.map((bytes) => JSON.parse(bytes.toString("utf8")) as SampleDocument);
  }
}

/**
 * Replaces line breaks with spaces and appends a line break. (Line breaks never occur inside a JSON string.)
 */
function onOneLine(json: Uint8Array): Buffer {
  const line = Buffer.alloc(json.length + 1);
  line.set(json);
  for (let at = line.indexOf(NEWLINE); at >= 0; at = line.indexOf(NEWLINE, at)) line[at] = SPACE;
  line[json.length] = NEWLINE;
  return line;
}

function generated(count: number, seed: number): Source {
  return {
    name: `generated, ${count} documents, seed ${seed}`,
    format: "ndjson",
    gzip: false,
    totalBytes: null,
    bytesRead: () => 0,
    chunks: generatedChunks(count, seed),
  };
}

async function* generatedChunks(count: number, seed: number): AsyncGenerator<Buffer> {
  let lines: string[] = [];
  for (const document of generateCatalogue(count, seed)) {
    lines.push(document);
    if (lines.length < LINES_PER_CHUNK) continue;
    yield Buffer.from(`${lines.join("\n")}\n`);
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join("\n")}\n`);
}
