// Creates the objects with which the main thread answers searches.
import { searchParts } from "../http/search-parts.js";
import type { QueryLogFloor } from "./query-log.js";

export function makeSearch(queryLog: QueryLogFloor) {
  const { popularLogs, teardown } = queryLog;
  const { close, ...parts } = searchParts({ ...queryLog, popularOf: (record) => popularLogs.of(record) });
  teardown.add("close the connections to model servers", close);
  return { ...queryLog, ...parts };
}

export type SearchFloor = ReturnType<typeof makeSearch>;
