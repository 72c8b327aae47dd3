// Renders a stored document for an answer, with projected members and highlights.
import type { AnalysisSettings, Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { FetchedDocument, FetchOptions } from "../protocol/fetch.js";
import type { DocumentRecord } from "../segments/document-record.js";
import { Highlighter } from "./highlight.js";
import { project, projectionOf } from "./project.js";

const NOTHING = new Uint8Array(0);

/** Shows one document at a time. A document that is not stored (null) is shown as an empty document. */
export type Show = (record: DocumentRecord | null) => FetchedDocument;

export function shower(
  { fields, excludeFields, highlight }: FetchOptions,
  analysis: AnalysisSettings,
  workbench: Workbench,
): Show {
  const projection = projectionOf(fields, excludeFields);
  const highlighter = highlight === undefined ? null : new Highlighter(highlight, analysis, workbench);
  return (record) => {
    if (record === null) return { id: NOTHING, document: NOTHING, highlight: NOTHING };
    return {
      id: Buffer.from(record.id),
      document: project(record, projection, workbench),
      highlight: highlighter === null ? NOTHING : highlighter.highlight(record.raw),
    };
  };
}
