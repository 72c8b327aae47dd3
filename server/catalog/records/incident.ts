// The record of a data source's incident, and its storage. server/documents/sources creates and resolves
// incidents.
import type { FeedErrorCode } from "../../ground/errors.js";
import type { StoredKind } from "./kind.js";

/** A data source's problem that needs a person's attention. */
export interface Incident {
  readonly id: number;
  /** Uid of the data source's index. */
  readonly index: number;
  readonly source: number;
  readonly run: number;
  readonly code: FeedErrorCode;
  readonly message: string;
  /** All times are ISO 8601 UTC. `resolved_at` is null while the incident is open. */
  readonly created_at: string;
  readonly resolved_at: string | null;
}

export const INCIDENT_KIND = {
  name: "incident",
  counter: "nextIncidentId",
  of: "index",
  vital: false,
  copiedAs: null,
  goesWith: "name",
} as const satisfies StoredKind;
