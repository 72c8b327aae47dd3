// Finds data sources, their runs and their incidents in the catalog, and builds the commands that change
// them. Pure functions.

import { ownedBy } from "../../catalog/owned-records.js";
import type { DataSource } from "../../catalog/records/data-source.js";
import type { Incident } from "../../catalog/records/incident.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { SyncRun } from "../../catalog/records/sync-run.js";
import type { CatalogState, Command } from "../../catalog/state.js";
import { SkeinError } from "../../ground/errors.js";

/** Runs kept per source. */
const RUNS_KEPT = 100;
/** Incidents kept per index. */
const INCIDENTS_KEPT = 1_000;

export function sourcesOf(state: CatalogState, uid: number): readonly DataSource[] {
  return ownedBy(state, "source", uid);
}

/** Returns the index's source with the id from the path. Throws SK-DS-404. */
export function findSource(state: CatalogState, index: IndexRecord, id: string): DataSource {
  const source = sourcesOf(state, index.uid).find((candidate) => String(candidate.id) === id);
  if (source !== undefined) return source;
  throw new SkeinError("SK-DS-404", "the index has no such data source");
}

/** Returns the source's run with the id from the path. Throws SK-DS-404. */
export function findRun(state: CatalogState, source: DataSource, id: string): SyncRun {
  const run = ownedBy(state, "run", source.index).find(
    (candidate) => candidate.source === source.id && String(candidate.id) === id,
  );
  if (run !== undefined) return run;
  throw new SkeinError("SK-DS-404", "the data source has no such run");
}

/** Returns the source's runs, newest first. */
export function runsOf(state: CatalogState, { index, id }: Pick<DataSource, "index" | "id">): SyncRun[] {
  return ownedBy(state, "run", index)
    .filter((run) => run.source === id)
    .reverse();
}

/**
 * Returns the source's current record, which a swap may have moved to another index. Undefined if the source
 * has been deleted.
 */
export function presentSource(state: CatalogState, id: number): DataSource | undefined {
  for (const sources of state.owned.source.values()) {
    const source = sources.find((candidate) => candidate.id === id);
    if (source !== undefined) return source;
  }
  return undefined;
}

export function isUnfinished({ status }: SyncRun): boolean {
  return status === "queued" || status === "running";
}

/** Returns the source's queued or running run. There is at most one. */
export function unfinishedRun(state: CatalogState, source: DataSource): SyncRun | undefined {
  return runsOf(state, source).find(isUnfinished);
}

export function putSource(record: DataSource): Command {
  return { type: "record.put", kind: "source", record };
}

export function putRun(record: SyncRun): Command {
  return { type: "record.put", kind: "run", record };
}

/** Deletes the source with its runs and incidents. */
export function deleteSource(state: CatalogState, { index, id }: DataSource): Command {
  const runs = ownedBy(state, "run", index).filter(({ source }) => source === id);
  const incidents = ownedBy(state, "incident", index).filter(({ source }) => source === id);
  return {
    type: "all",
    commands: [
      { type: "record.delete", kind: "source", index, id },
      ...runs.map((run): Command => ({ type: "record.delete", kind: "run", index, id: run.id })),
      ...incidents.map((one): Command => ({ type: "record.delete", kind: "incident", index, id: one.id })),
    ],
  };
}

/** Deletes the source's oldest runs, so that one more can be added without exceeding RUNS_KEPT. */
export function pruneRuns(state: CatalogState, source: DataSource): Command[] {
  return runsOf(state, source)
    .slice(RUNS_KEPT - 1)
    .map(({ id }) => ({ type: "record.delete", kind: "run", index: source.index, id }));
}

/** Adds an incident, and deletes the index's oldest ones if there are more than INCIDENTS_KEPT. */
export function putIncident(state: CatalogState, incident: Omit<Incident, "id">): Command[] {
  const { index } = incident;
  const all = ownedBy(state, "incident", index);
  const old = all.slice(0, Math.max(0, all.length - INCIDENTS_KEPT + 1));
  return [
    { type: "record.put", kind: "incident", record: { ...incident, id: state.nextIncidentId } },
    ...old.map(({ id }): Command => ({ type: "record.delete", kind: "incident", index, id })),
  ];
}

/** Resolves a source's open incidents. */
export function resolveIncidents(state: CatalogState, { index, id }: DataSource, now: string): Command[] {
  return ownedBy(state, "incident", index)
    .filter(({ source, resolved_at }) => source === id && resolved_at === null)
    .map((incident) => ({
      type: "record.put",
      kind: "incident",
      record: { ...incident, resolved_at: now },
    }));
}

/** Returns the indexes' incidents, newest first. */
export function incidentsOf(
  state: CatalogState,
  indexes: readonly IndexRecord[],
): { readonly incident: Incident; readonly index: IndexRecord }[] {
  return indexes
    .flatMap((index) => ownedBy(state, "incident", index.uid).map((incident) => ({ incident, index })))
    .sort((a, b) => b.incident.id - a.incident.id);
}
