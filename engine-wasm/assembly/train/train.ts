// Trains an embedded model on a segment's documents. Training is a single call that may take many seconds, so
// it needs its own instance.

import {
  MODEL_SLOTS_MAX,
  STATUS_BAD_PROGRAM,
  TRAIN_NUMBER,
  TRAIN_PREVIOUS,
  TRAIN_SLOTS,
  TRAIN_SLOTS_AT,
  TRAIN_TERMS_MAX,
} from "../layout";
import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { slotsHold } from "../model/check-model";
import { FEATURES_BYTES, Features } from "../model/features";
import { TermRows } from "../model/term-rows";
import { failed, status, statusReset } from "../status";
import { align } from "./align";
import { ModelWriter } from "./model-writer";
import { NAMES_BYTES, Names } from "./names";
import { SPARSE_BYTES, Sparse } from "./sparse";
import { termVectors } from "./term-vectors";
import { Chosen, chooseTerms } from "./vocabulary";

/** The part of a training's state that is still needed after the segment has been freed. */
@unmanaged
class Training {
  sparse: Sparse;
  names: Names;
  chosen: Chosen;
  writer: ModelWriter;
}

/**
 * Trains on the segment in the region `segment`, which it frees. The region contains `bytes` bytes: the parts
 * listed in features.ts, without the `skipped` bytes after the header. `options` is a region laid out as
 * TRAIN_*. Returns a region with the model, whose header contains its length. The same input always yields
 * the same model. Returns -STATUS_BAD_PROGRAM if the options are malformed, or -STATUS_DAMAGED, after which
 * the instance must be discarded.
 */
export function train(segment: usize, bytes: u32, skipped: u32, options: usize): i32 {
  statusReset();
  const slots = Mem.u32At(options + TRAIN_SLOTS);
  if (slots > <u32>MODEL_SLOTS_MAX || !slotsHold(options + TRAIN_SLOTS_AT, slots)) return -STATUS_BAD_PROGRAM;
  const t = makeTraining();
  t.writer.slotTable = options + TRAIN_SLOTS_AT;
  t.writer.slots = slots;
  readSegment(t, segment, bytes, skipped, Mem.u32At(options + TRAIN_TERMS_MAX));
  if (failed()) return -status();
  release(segment);
  t.writer.number = Mem.u32At(options + TRAIN_NUMBER);
  t.writer.documents = t.sparse.documents;
  t.writer.vectors = t.sparse.terms == 0 ? 0 : termVectors(t.sparse);
  t.sparse.drop();
  const previous = <usize>Mem.u32At(options + TRAIN_PREVIOUS);
  if (previous != 0) t.writer.isAligned = align(previous, t.writer.vectors, t.names, t.chosen);
  return <i32>t.writer.write();
}

function makeTraining(): Training {
  const sparse = Mem.aligned(offsetof<Training>());
  const names = sparse + Mem.aligned(SPARSE_BYTES);
  const chosen = names + Mem.aligned(NAMES_BYTES);
  const writer = chosen + Mem.aligned(offsetof<Chosen>());
  const region = reserve(writer + offsetof<ModelWriter>());
  Mem.fill(region, 0, writer + offsetof<ModelWriter>());
  const t = changetype<Training>(region);
  t.sparse = changetype<Sparse>(region + sparse);
  t.names = changetype<Names>(region + names);
  t.chosen = changetype<Chosen>(region + chosen);
  t.writer = changetype<ModelWriter>(region + writer);
  t.writer.names = t.names;
  t.writer.chosen = t.chosen;
  return t;
}

/** Reads the document-term matrix and its terms' names. Damage is recorded in the status. */
function readSegment(t: Training, segment: usize, bytes: u32, skipped: u32, termsMax: u32): void {
  const features = changetype<Features>(reserve(FEATURES_BYTES));
  if (!features.open(segment, bytes, skipped, t.writer.slotTable, t.writer.slots)) return;
  const region = reserve(TermRows.bytes(features.rows));
  const rows = TermRows.make(region, features.rows);
  rows.to = features.rows;
  chooseTerms(t.chosen, features, rows, termsMax);
  if (failed()) return;
  t.names.make(features, t.chosen);
  t.sparse.make(features, rows, t.chosen);
  release(region);
  release(changetype<usize>(features));
}
