// Data source operations for tests: create a source, read its feed, wait for a run.
import { eventually, expectStatus, type TestServer } from "./harness.js";

export interface Run {
  readonly id: number;
  readonly status: string;
  readonly trigger: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly documents_imported: number;
  readonly documents_failed: number;
  readonly documents_deleted: number;
  readonly documents_unchanged: number;
  readonly bytes: number;
  readonly not_modified: boolean;
  readonly error: string | null;
  readonly error_code: string | null;
  readonly errors: readonly { item: number; id: string | null; error: string }[];
}

/** Configuration of servers that may fetch from loopback. */
export const FROM_LOOPBACK = { feeds: { allow_hosts: ["127.0.0.1"] } };

export interface Source {
  /** For example `/v1/indexes/shop/data-sources/7`. */
  readonly path: string;
  readonly id: number;
}

export async function makeSource(server: TestServer, index: string, body: object): Promise<Source> {
  const all = `/v1/indexes/${index}/data-sources`;
  const reply = await server.post(all, body);
  expectStatus(reply, 201);
  const { id } = reply.json.data as unknown as { id: number };
  return { path: `${all}/${id}`, id };
}

/** Queues a run and returns its id. */
export async function syncNow(server: TestServer, { path }: Source): Promise<number> {
  const reply = await server.post(`${path}/sync-now`);
  if (reply.status !== 200) expectStatus(reply, 202);
  return reply.json.data.run_id as number;
}

export async function runOf(server: TestServer, { path }: Source, id: number): Promise<Run> {
  return (await server.get(`${path}/runs/${id}`)).json.data as unknown as Run;
}

export async function runsOf(server: TestServer, { path }: Source): Promise<Run[]> {
  return (await server.get(`${path}/runs`)).json.data as unknown as Run[];
}

/** Waits until the run has ended and returns it. */
export async function ended(server: TestServer, source: Source, id: number): Promise<Run> {
  let run = await runOf(server, source, id);
  await eventually(async () => {
    run = await runOf(server, source, id);
    return run.status !== "queued" && run.status !== "running";
  }, `run ${id} is over`);
  return run;
}

/** Reads the feed now and waits for the run to end. */
export async function sync(server: TestServer, source: Source): Promise<Run> {
  return ended(server, source, await syncNow(server, source));
}

/** All of an index's documents, by id. */
export async function documentsOf(
  server: TestServer,
  index: string,
): Promise<Record<string, Record<string, unknown>>> {
  const { text } = await server.get(`/v1/indexes/${index}/documents/export`);
  const documents = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { id: string });
  return Object.fromEntries(documents.map((document) => [document.id, document]));
}
