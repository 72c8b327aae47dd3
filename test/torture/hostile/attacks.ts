// All attacks, in the order in which they are carried out.
import type { Attack } from "./attack.js";
import { BODIES } from "./attacks/bodies.js";
import { CONNECTIONS } from "./attacks/connections.js";
import { DOCUMENTS } from "./attacks/documents.js";
import { FILTERS } from "./attacks/filters.js";
import { FLOODS } from "./attacks/floods.js";
import { MISHAPS } from "./attacks/mishaps.js";
import { MULTI_SEARCHES } from "./attacks/multi-searches.js";
import { QUERIES } from "./attacks/queries.js";

export const ATTACKS: readonly Attack[] = [
  ...FILTERS,
  ...MULTI_SEARCHES,
  ...BODIES,
  ...DOCUMENTS,
  ...FLOODS,
  ...QUERIES,
  ...CONNECTIONS,
  ...MISHAPS,
];
