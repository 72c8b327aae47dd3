// Formats an inferred schema as a table.

import type { Inference } from "../documents/formats/infer.js";
import { renderTable } from "./table.js";

/**
 * Returns a table of the fields (name, type, facet, sort, reason), then a line about the default order if one
 * was chosen.
 */
export function schemaLines(inference: Inference, width: number): string[] {
  const yes = (flag: boolean) => (flag ? "yes" : "");
  const rows = inference.choices.map((choice) => [
    choice.name,
    choice.type ?? "(stored)",
    yes(choice.facet),
    yes(choice.sort),
    choice.why,
  ]);
  const columns = [
    { title: "field", minWidth: 12 },
    { title: "type", minWidth: 8 },
    { title: "facet", minWidth: 5 },
    { title: "sort", minWidth: 4 },
    { title: "why", minWidth: 20 },
  ];
  const lines = renderTable(columns, rows, width);
  const sorting = inference.schema.default_sorting_field;
  if (sorting !== undefined)
    lines.push(`Equal results are ordered by ${sorting}, largest first (default_sorting_field).`);
  return lines;
}
