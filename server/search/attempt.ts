// The attempts to answer a query in different wordings, and the interface through which one of the attempts
// is chosen. Query understanding implements the interface and depends on nothing else in a search.
import type { IndexScale } from "../fleet/reads/index-handle.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { settled, type Work } from "../ground/jobs/work.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { AiContext } from "./found.js";
import type { Matched } from "./matching/match.js";
import type { QueryPlan } from "./matching/plan.js";
import type { QueriedIndex } from "./matching/queried-index.js";
import type { ShownDocuments } from "./shown-documents.js";

/** A query in one wording, planned and run, with the documents that contain all of its words. */
export interface Attempt {
  readonly request: QueryRequest;
  readonly plan: QueryPlan;
  readonly shown: ShownDocuments;
  readonly matched: Matched;
}

/** The attempt that answers the query, and how the query was understood. */
export interface Meant {
  readonly attempt: Attempt;
  /** Null if the query ran as typed. */
  readonly context: AiContext | null;
  /**
   * True if the query would be understood the same way until the index changes, so that the answer may be
   * cached.
   */
  readonly lasting: boolean;
}

/** A query and the index that it runs on. */
export interface AskedQuery {
  readonly asked: QueryRequest;
  readonly index: QueriedIndex;
  readonly scale: IndexScale;
  readonly snapshot: IndexSnapshot;
  /**
   * Takes a snapshot of the index's newest state, for background work that outlives the query. The caller
   * must release the snapshot.
   */
  snapshotBehind(): Promise<IndexSnapshot>;
  attempt(request: QueryRequest): Attempt | Promise<Attempt>;
}

/** Decides in which wording a query is answered, possibly after several attempts. */
export interface Understanding {
  meant(query: AskedQuery): Work<Meant>;
}

/** The query in the wording in which it was asked. */
export function* meantAsTyped(query: AskedQuery): Work<Meant> {
  return { attempt: yield* settled(query.attempt(query.asked)), context: null, lasting: true };
}
