// Documents by the most that a request may have, compressed ones that grow, and imports that are abandoned.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Attack, Bounds, Wave } from "../attack.js";
import { GOODS, type Place, post } from "../place.js";

const MIB = 1024 * 1024;
/** `batchDocumentsMax` */
const BATCH_DOCUMENTS = 10_000;
/** Bytes of a bomb when it is decompressed: four times what a batch may have. */
const BOMB_BYTES = 256 * MIB;
/**
 * Writes have no deadline: their answers wait for the batches before them. What they wrote takes memory, the
 * replaced documents too until segments are merged.
 */
const WRITES: Partial<Bounds> = { endMsMax: 60_000, drainMsMax: 60_000, grownMax: 1.5, keptMax: 1 };

function lines({ path }: Place): string[] {
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(0, BATCH_DOCUMENTS);
}

function documents(
  what: "batch" | "import",
  of: (place: Place) => Buffer,
  wave: Omit<Wave, "prepare">,
): Wave {
  const type = what === "batch" ? "application/json" : "application/x-ndjson";
  return {
    ...wave,
    prepare: (place) => {
      const body = of(place);
      const isGzip = body[0] === 0x1f;
      const headers = { "content-type": type, ...(isGzip ? { "content-encoding": "gzip" } : {}) };
      const path = `/v1/indexes/${GOODS}/documents/${what}`;
      const request = post(place, path, place.keys.documents, body, headers);
      return () => request;
    },
  };
}

const batch = (place: Place): Buffer => Buffer.from(`{"documents":[${lines(place).join(",")}]}`);
const bomb = (): Buffer => gzipSync(Buffer.alloc(BOMB_BYTES, " "));
const ndjson = (place: Place): Buffer => Buffer.from(`${lines(place).join("\n")}\n`.repeat(3));

export const DOCUMENTS: readonly Attack[] = [
  {
    name: "batches",
    what: `batches of ${BATCH_DOCUMENTS} documents by 16 clients`,
    waves: [documents("batch", batch, { clients: 16, requests: 48, manner: { kind: "reads" } })],
    bounds: WRITES,
  },
  {
    name: "gzip bombs",
    what: "batches and imports of 256 KiB that decompress to 256 MiB of spaces, by 60 clients",
    waves: [
      documents("batch", bomb, { clients: 30, requests: 60, manner: { kind: "reads" } }),
      documents("import", bomb, { clients: 30, requests: 60, manner: { kind: "reads" } }),
    ],
    bounds: WRITES,
  },
  {
    name: "abandoned imports",
    what: "imports of 30,000 documents by 20 clients that leave halfway and come back",
    waves: [
      documents("import", ndjson, { clients: 20, requests: 100, manner: { kind: "breaks off", share: 0.5 } }),
    ],
    bounds: WRITES,
  },
];
