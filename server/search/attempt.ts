// What a query is asked in: its attempts, and who decides which of them is answered. The understanding of
// queries implements this, and sees of a search only what is here.
import type { IndexScale } from "../fleet/reads/index-handle.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { AiContext } from "./found.js";
import type { Matched } from "./matching/match.js";
import type { QueryPlan } from "./matching/plan.js";
import type { QueriedIndex } from "./matching/queried-index.js";
import type { ShownDocuments } from "./shown-documents.js";

/** A query asked in some words, and the documents that have all of them. */
export interface Attempt {
  readonly request: QueryRequest;
  readonly plan: QueryPlan;
  readonly shown: ShownDocuments;
  readonly matched: Matched;
}

/** The attempt that is answered. */
export interface Meant {
  readonly attempt: Attempt;
  /** Null: the query was asked as it was typed. */
  readonly context: AiContext | null;
  /** The same query is understood in the same way until the index changes. */
  readonly lasting: boolean;
}

/** A query and the index that it is put to. */
export interface AskedQuery {
  readonly asked: QueryRequest;
  readonly index: QueriedIndex;
  readonly scale: IndexScale;
  readonly snapshot: IndexSnapshot;
  /** The newest state of the index, for work that outlives the query. The caller releases it. */
  snapshotBehind(): Promise<IndexSnapshot>;
  attempt(request: QueryRequest): Promise<Attempt>;
}

/** Decides in which words a query is asked. It may make several attempts. */
export interface Understanding {
  meant(query: AskedQuery): Promise<Meant>;
}
