// The documents of a workload, through the command line's own readers and schema inference, with a sample kept
// aside to draw queries from.

import { inferFrom } from "../../server/cli/import.js";
import {
  type DocumentInput,
  type NumberedDocument,
  openDocuments,
} from "../../server/cli/input/documents.js";
import { openSource, type Source } from "../../server/cli/input/source.js";
import type { Schema } from "../../server/cli/schema/infer.js";
import { generateCatalogue } from "../generate.js";
import { Random } from "../random.js";
import type { SampleDocument } from "./queries.js";
import type { Workload } from "./workload.js";

const SAMPLE_FOR_SCHEMA = 2000;
const SAMPLE_FOR_QUERIES = 3000;
const LINES_PER_CHUNK = 256;

export class Dataset {
  /** JSON bytes of the documents that went through `groups`. */
  bytes = 0;
  documents = 0;
  readonly #kept: Buffer[] = [];
  readonly #random: Random;

  private constructor(
    readonly name: string,
    readonly schema: Schema,
    private readonly input: DocumentInput,
    seed: number,
  ) {
    this.#random = new Random(seed);
  }

  static async open(data: Workload["data"], seed: number, idField: string | null): Promise<Dataset> {
    const source = "file" in data ? await openSource(data.file, null) : generated(data.generate, data.seed);
    const input = await openDocuments(source, {
      idField,
      delimiter: null,
      sampleDocuments: SAMPLE_FOR_SCHEMA,
    });
    return new Dataset(source.name, inferFrom(input, source).schema, input, seed);
  }

  /** All documents, once. Keeps an even sample of them (reservoir sampling). */
  async *groups(): AsyncGenerator<NumberedDocument[]> {
    const types = new Map(this.schema.fields.map((field) => [field.name, field.type]));
    for await (const group of this.input.all(types)) {
      for (const document of group) {
        if (document.problem !== undefined) continue;
        this.bytes += document.bytes.length;
        this.documents++;
        if (this.#kept.length < SAMPLE_FOR_QUERIES) this.#kept.push(Buffer.from(document.bytes));
        else {
          const at = this.#random.below(this.documents);
          if (at < SAMPLE_FOR_QUERIES) this.#kept[at] = Buffer.from(document.bytes);
        }
      }
      yield group;
    }
  }

  /** The sample, parsed. */
  sample(): SampleDocument[] {
    return this.#kept.map((bytes) => JSON.parse(bytes.toString("utf8")) as SampleDocument);
  }
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
