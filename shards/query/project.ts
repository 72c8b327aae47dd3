// Selects the part of a stored document that an answer shows: whole members, copied as written. Internal
// members are never shown; `id` is always shown.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { DocumentRecord } from "../segments/document-record.js";
import { isInternal } from "./internal.js";
import { joinMembers } from "./splice.js";

/**
 * Names of members to keep (in addition to `id`) or to leave out. If both are given, only `fields` applies.
 */
export interface Projection {
  fields: ReadonlySet<string> | null;
  excludeFields: ReadonlySet<string> | null;
}

export const WHOLE: Projection = { fields: null, excludeFields: null };

export function projectionOf(fields: string[] | undefined, excludeFields: string[] | undefined): Projection {
  return {
    fields: fields === undefined ? null : new Set(fields),
    excludeFields: excludeFields === undefined || fields !== undefined ? null : new Set(excludeFields),
  };
}

function shows(name: string, { fields, excludeFields }: Projection): boolean {
  if (name === "id") return true;
  if (isInternal(name)) return false;
  if (fields !== null) return fields.has(name);
  return excludeFields === null || !excludeFields.has(name);
}

/** Returns the JSON bytes to show. If the whole document is shown, they are a view into the record. */
export function project(record: DocumentRecord, projection: Projection, workbench: Workbench): Uint8Array {
  const { raw, internal } = record;
  if (!internal && projection.fields === null && projection.excludeFields === null) return raw;
  const shown = workbench.topLevel(raw).filter(({ name }) => shows(name, projection));
  return joinMembers(shown.map(({ nameStart, valueEnd }) => raw.subarray(nameStart, valueEnd)));
}
