// Creates the coach. It has its own thread, and its own search services because its searches are not logged,
// billed or used for suggestions.
import { Coach } from "../coach/coach.js";
import { CoachPool } from "../coach/coach-pool.js";
import { IndexShop } from "../coach/index-shop.js";
import { ChatEndpoint } from "../models/chat-endpoint.js";
import { NOTHING_POPULAR } from "../query-log/popularity/popularity.js";
import { QueriedIndexes } from "../search/matching/queried-index.js";
import type { DocumentsFloor } from "./documents.js";

export function makeCoach(documents: DocumentsFloor) {
  const { config, catalog, analyserOf, reads, givenVectors, understanding, curation, counts } = documents;
  const { analyticsPool, logWriter, jobs, limits, log, teardown } = documents;
  const pool = new CoachPool(log);
  teardown.add("end the thread of the coach", () => pool.stop());
  const wording = config.ai.coach === null ? null : new ChatEndpoint(config.ai.coach);
  teardown.add("close the connections of the coach", () => wording?.close());
  const queriedIndexes = new QueriedIndexes(analyserOf, () => NOTHING_POPULAR, limits, log);
  const coach = new Coach({
    catalog,
    analytics: analyticsPool,
    writer: logWriter,
    pool,
    shop: new IndexShop({ catalog, reads, limits, givenVectors, queriedIndexes, understanding }),
    curation,
    usage: counts.usage,
    jobs,
    limits,
    endpoint: wording,
  });
  return { ...documents, coach };
}

export type CoachFloor = ReturnType<typeof makeCoach>;
