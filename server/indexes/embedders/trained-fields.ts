// Selects the fields on which an index's model is trained, and their weights. Pure functions.
import { crc32 } from "node:zlib";
import { FLAG_INDEX } from "../../../engine-wasm/assembly/layout.js";
import type { BuildSchema } from "../../../engine-wasm/host/instance/workbench.js";
import type { TrainedSlot } from "../../../engine-wasm/host/vectors/trainer.js";
import { asReady, type IndexRecord } from "../../catalog/records/index-record.js";
import { isSearchable, type ResolvedField, resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";

/**
 * Weight, in training, of words in fields whose search weight is above average. Words in other fields have
 * weight 1.
 */
const HEAVY = 2;

export interface Trained {
  readonly names: readonly string[];
  readonly fields: readonly TrainedSlot[];
  /** The schema for the segments that the trainer builds from the sampled documents. */
  readonly schema: BuildSchema;
  /**
   * A checksum of the fields, their weights and their text analysis. A model whose checksum differs must be
   * retrained.
   */
  readonly fingerprint: number;
}

export function trainedFields(record: IndexRecord): Trained {
  const schema = resolvedSchemaOf(asReady(record));
  const { fields: chosen } = record.settings.embedder;
  const fields: readonly ResolvedField[] =
    chosen === null
      ? schema.searchable.map(({ field }) => field)
      : chosen.flatMap((name) => schema.field(name) ?? []).filter(isSearchable);
  const mean = fields.reduce((sum, field) => sum + schema.weightOf(field), 0) / fields.length;
  const trained = fields
    .map((field) => ({
      slot: field.slot,
      weight: schema.weightOf(field) > mean ? HEAVY : 1,
      stemmed: field.language > 0,
    }))
    .sort((a, b) => a.slot - b.slot);
  const { version, analysis, fields: all } = schema.shardSchema;
  return {
    names: fields.map(({ name }) => name),
    fields: trained,
    schema: {
      fields: all
        .filter(({ slot }) => trained.some((field) => field.slot === slot))
        .map((field) => ({ ...field, flags: FLAG_INDEX })),
      analysis,
    },
    fingerprint: crc32(JSON.stringify([trained, version])) >>> 0,
  };
}
