// Builds the clients' view of an index record, as the API specification defines it, without slots and
// versions.
import { fieldView } from "./definition/schema.js";
import type { IndexRecord } from "./records/index-record.js";

export type IndexStatus = "active" | "rebuilding" | "error";

export function indexView(
  record: IndexRecord,
  records: number,
  status: IndexStatus,
): Record<string, unknown> {
  const { defaultSortingField } = record;
  return {
    id: record.id,
    name: record.name,
    schema: {
      ...record.schemaExtensions,
      fields: record.fields.map(fieldView),
      ...(defaultSortingField === null ? {} : { default_sorting_field: defaultSortingField }),
    },
    records_count: records,
    status,
    created_at: record.createdAt,
  };
}
