// Writes a trained model. Each of its terms has a vector of 8-bit numbers and the factor that scales them.

import {
  EMBEDDED_MAGIC,
  EMBEDDED_VERSION,
  MODEL_ALIGNED,
  MODEL_BYTES,
  MODEL_DOCUMENTS,
  MODEL_FACTORS,
  MODEL_FLAGS,
  MODEL_HEADER_BYTES,
  MODEL_MAGIC,
  MODEL_NUMBER,
  MODEL_SLOT_BYTES,
  MODEL_SLOT_TABLE,
  MODEL_SLOTS,
  MODEL_TERM_BYTES,
  MODEL_TERM_OFFSETS,
  MODEL_TERMS,
  MODEL_VECTORS,
  MODEL_VERSION,
  VECTOR_SIZE,
} from "../layout";
import { reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { largestFloat } from "./floats";
import { Names } from "./names";
import { ROW_BYTES } from "./term-vectors";
import { Chosen, Vocabulary } from "./vocabulary";

const LARGEST: f32 = 127;
const LEAST: f32 = 1e-20; // if all of a vector's numbers are below this, the term counts as having no vector

/** What a model is written from: its header values, terms and vectors. */
@unmanaged
export class ModelWriter {
  number: u32;
  documents: u32;
  isAligned: bool;
  slotTable: usize;
  slots: u32;
  names: Names;
  chosen: Chosen;
  vectors: usize; // address of the rows of ROW_BYTES, one per term; 0 if there are no terms

  /** Writes the model to a region. The model's header contains its length. */
  write(): usize {
    let terms: u32 = 0;
    let nameBytes: u32 = 0;
    for (let i: u32 = 0; i < this.names.count; i++) {
      if (!this.hasVector(i)) continue;
      terms++;
      nameBytes += this.names.length(i);
    }
    const offsets = MODEL_HEADER_BYTES + this.slots * MODEL_SLOT_BYTES;
    const factors = aligned8(offsets + ((terms + 1) << 2));
    const vectors = aligned8(factors + (terms << 2));
    const bytes = vectors + terms * VECTOR_SIZE;
    const length = aligned8(bytes + nameBytes);
    const model = reserve(length);
    Mem.fill(model, 0, length);
    Mem.putU32(model + MODEL_MAGIC, EMBEDDED_MAGIC);
    Mem.putU32(model + MODEL_VERSION, EMBEDDED_VERSION);
    Mem.putU32(model + MODEL_BYTES, length);
    Mem.putU32(model + MODEL_TERMS, terms);
    Mem.putU32(model + MODEL_SLOTS, this.slots);
    Mem.putU32(model + MODEL_DOCUMENTS, this.documents);
    Mem.putU32(model + MODEL_NUMBER, this.number);
    Mem.putU32(model + MODEL_FLAGS, this.isAligned ? MODEL_ALIGNED : 0);
    Mem.putU32(model + MODEL_SLOT_TABLE, MODEL_HEADER_BYTES);
    Mem.putU32(model + MODEL_TERM_OFFSETS, offsets);
    Mem.putU32(model + MODEL_TERM_BYTES, bytes);
    Mem.putU32(model + MODEL_FACTORS, factors);
    Mem.putU32(model + MODEL_VECTORS, vectors);
    Mem.copy(model + MODEL_HEADER_BYTES, this.slotTable, this.slots * MODEL_SLOT_BYTES);
    this.writeTerms(model + offsets, model + bytes, model + factors, model + vectors);
    return model;
  }

  private vector(i: u32): usize {
    return this.vectors + <usize>i * ROW_BYTES;
  }

  private hasVector(i: u32): bool {
    return Vocabulary.weight(this.chosen.entries, i) > 0 && largestFloat(this.vector(i)) > LEAST;
  }

  private writeTerms(offsets: usize, bytes: usize, factors: usize, vectors: usize): void {
    let end: u32 = 0;
    for (let i: u32 = 0; i < this.names.count; i++) {
      if (!this.hasVector(i)) continue;
      Mem.copy(bytes + <usize>end, this.names.at(i), this.names.length(i));
      end += this.names.length(i);
      offsets += 4;
      Mem.putU32(offsets, end);
      const unit = largestFloat(this.vector(i)) / LARGEST;
      Mem.putF32(factors, Vocabulary.weight(this.chosen.entries, i) * unit);
      for (let j: usize = 0; j < <usize>VECTOR_SIZE; j++) {
        Mem.putU8(vectors + j, <u32>(<i32>nearest<f32>(Mem.f32At(this.vector(i) + (j << 2)) / unit)));
      }
      factors += 4;
      vectors += VECTOR_SIZE;
    }
  }
}

function aligned8(bytes: u32): u32 {
  return (bytes + 7) & ~7;
}
