// Damaged stored bytes of vectors, codes and models: decoders refuse the bytes or read what was written.
// Damaged codes regions also go directly to the engine, past the checksum, and it must accept or refuse them
// without harm.
import type { Random } from "../../../bench/random.js";
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { EnvelopeError } from "../../../shards/storage/envelope.js";
import { vectorKey } from "../../../shards/storage/keyspace.js";
import type { StoreOp } from "../../../shards/storage/store.js";
import { decodeModelPiece, decodeModelRecord, putModel } from "../../../shards/vectors/model-store.js";
import { decodeCodesPiece, putCodes } from "../../../shards/vectors/stored-codes.js";
import { decodeVector, vectorPuts } from "../../../shards/vectors/vector-record.js";
import { finding, mutateBytes, type Target } from "../target.js";

const UID = 7;
const SEQ = 2 ** 40 + 1;
const ROWS = 70;
const MODEL = {
  number: 3,
  since: 2,
  bytes: 40,
  documents: 9,
  fields: 1,
  trainedAt: 1_700_000_000,
  tookMs: 5,
};
const KINDS = 5;
/** The kind that mutates a codes region itself, without the stored envelope and its checksum. */
const REGION = 4;

/** Input: a byte that selects the kind, then the stored value, or the bytes of a codes region. */
export function storedVectorsTarget(module: EngineModule): Target {
  const engine = module.engine();
  const codes = engine.newCodes(ROWS);
  const vector = module.workbench().vectorOf(Float32Array.from({ length: 512 }, (_, i) => Math.sin(i)))!;
  for (let row = 0; row < ROWS; row += 2) engine.fillCodes(codes, row, vector);
  const region = engine.codesBytes(codes, ROWS);
  const puts = [
    [...vectorPuts(UID, { origin: 5, seqs: [SEQ], vectors: vector })][0],
    [...putCodes(UID, 1, { origin: 5, bytes: region })][0],
    [...putModel(UID, MODEL, Buffer.alloc(MODEL.bytes, 9))][0],
    [...putModel(UID, MODEL, Buffer.alloc(MODEL.bytes, 9))].at(-1),
  ].map(putValue);
  const decoders = [
    (bytes: Uint8Array) => decodeVector(vectorKey(UID, SEQ), bytes),
    (bytes: Uint8Array) => decodeCodesPiece(bytes, "codes"),
    (bytes: Uint8Array) => decodeModelPiece(bytes, "piece"),
    (bytes: Uint8Array) => decodeModelRecord(bytes, "model"),
  ];
  return {
    name: "stored-vectors",
    generate(random: Random) {
      const kind = random.below(KINDS);
      return Buffer.concat([
        Uint8Array.of(kind),
        mutateBytes(random, kind === REGION ? region : puts[kind]!),
      ]);
    },
    check(input) {
      const kind = input[0]! % KINDS;
      const bytes = input.subarray(1);
      if (kind === REGION) return attach(bytes);
      let said: unknown;
      try {
        said = decoders[kind]!(bytes);
      } catch (error) {
        if (error instanceof EnvelopeError) return;
        throw error;
      }
      if (!Buffer.from(bytes).equals(puts[kind]!))
        finding(`other bytes were read as ${JSON.stringify(said)}`);
    },
    close: async () => undefined,
  };

  /**
   * Attaches the bytes as a codes region. If the engine accepts them, the region's counts must be consistent,
   * and a code can be added to it.
   */
  function attach(bytes: Uint8Array): void {
    let address: number;
    try {
      address = engine.attachCodes(bytes);
    } catch (error) {
      if (error instanceof EngineError && error.code === "damaged") return;
      throw error;
    }
    const rows = Buffer.from(bytes).readUInt32LE(0);
    if (engine.codesCount(address) > rows) finding("more codes than rows");
    if (rows > 0) engine.fillCodes(address, rows - 1, vector.subarray(0, VECTOR_BYTES));
    if (engine.codesBytes(address, rows).length !== bytes.length) finding("a region of another length");
    engine.releaseCodes(address);
  }
}

function putValue(op: StoreOp | undefined): Buffer {
  if (op?.type !== "put") throw new Error("the operation stores nothing");
  return Buffer.from(op.value);
}
