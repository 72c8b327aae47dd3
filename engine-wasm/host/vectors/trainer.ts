// Trains an embedded model on a segment: encodes the options, copies the segment in, and copies the model
// out.
import {
  MODEL_BYTES,
  MODEL_SLOT,
  MODEL_SLOT_BYTES,
  MODEL_SLOT_STEMMED,
  MODEL_SLOT_WEIGHT,
  TRAIN_NUMBER,
  TRAIN_PREVIOUS,
  TRAIN_SLOTS,
  TRAIN_SLOTS_AT,
  TRAIN_TERMS_MAX,
} from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import type { EngineInstance } from "../wasm/memory.js";
import { featureParts } from "./feature-parts.js";

export interface TrainedSlot {
  slot: number;
  /** Weight per occurrence, from 0 to 1,000,000. */
  weight: number;
  /** If true, train on stems and terms with a digit; if false, on words. */
  stemmed: boolean;
}

export interface TrainOptions {
  slots: readonly TrainedSlot[];
  /** The model's number in its index. */
  number: number;
  /** Maximum number of terms. The model keeps the terms that occur in the most documents. */
  termsMax: number;
  /** A model whose vectors must be comparable with those of the new model; null if there is none. */
  previous: Uint8Array | null;
}

/**
 * Trains on all rows of the segment. Takes seconds, and hundreds of bytes of memory per term and document, so
 * discard the instance afterwards. Deterministic for a given segment and options. Throws
 * EngineError("damaged" | "memory"), or EngineError("program") for a duplicate slot or an invalid weight.
 */
export function trainModel(
  instance: EngineInstance,
  segment: Uint8Array,
  options: TrainOptions,
): Uint8Array<ArrayBuffer> {
  let previous = 0;
  if (options.previous !== null) {
    const bytes = options.previous.length;
    previous = instance.region(options.previous);
    const status = instance.run((kernels) => kernels.checkModel(previous, bytes));
    if (status !== 0) throw statusError(-status);
  }
  const encoded = instance.region(encodeOptions(options, previous));
  const { header, lists, bytes, skipped } = featureParts(segment);
  const region = instance.reserve(bytes);
  instance.view().set(header, region);
  instance.view().set(lists, region + header.length);
  const model = instance.address(instance.run((kernels) => kernels.train(region, bytes, skipped, encoded)));
  const view = instance.view();
  return new Uint8Array(view.subarray(model, model + view.readUInt32LE(model + MODEL_BYTES)));
}

function encodeOptions(options: TrainOptions, previous: number): Uint8Array {
  const slots = [...options.slots].sort((a, b) => a.slot - b.slot);
  const out = Buffer.alloc(TRAIN_SLOTS_AT + slots.length * MODEL_SLOT_BYTES);
  out.writeUInt32LE(options.number, TRAIN_NUMBER);
  out.writeUInt32LE(options.termsMax, TRAIN_TERMS_MAX);
  out.writeUInt32LE(previous, TRAIN_PREVIOUS);
  out.writeUInt32LE(slots.length, TRAIN_SLOTS);
  for (const [i, { slot, weight, stemmed }] of slots.entries()) {
    const at = TRAIN_SLOTS_AT + i * MODEL_SLOT_BYTES;
    out.writeUInt16LE(slot, at + MODEL_SLOT);
    out.writeUInt8(stemmed ? 1 : 0, at + MODEL_SLOT_STEMMED);
    out.writeFloatLE(weight, at + MODEL_SLOT_WEIGHT);
  }
  return out;
}
