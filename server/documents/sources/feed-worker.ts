// The entry point of a feed thread. Fetches a feed, reads its items, maps them to documents and prepares
// writes, so that the HTTP thread only has to forward the writes. Holds few batches at a time, and sends one
// only when the HTTP thread has asked for it.
import { type MessagePort, workerData } from "node:worker_threads";
import { EngineModule, type EngineParts } from "../../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { FeedError } from "../../ground/errors.js";
import { type Downloaded, download } from "../../ground/outbound/download.js";
import { FeedEnd } from "../feeds/feed-end.js";
import type { FeedItem } from "../feeds/feed-item.js";
import { withFlushes } from "../feeds/flushes.js";
import { inflate } from "../feeds/inflate.js";
import { readFeed } from "../feeds/read-feed.js";
import { prepareSynced } from "../ingest/prepare.js";
import { toJson } from "../mapping/json-text.js";
import { itemMapper } from "../mapping/map-item.js";
import { suggestFor } from "../mapping/suggest.js";
import { BatchSender } from "./batch-sender.js";
import type { FeedPreview, FeedRead, FeedRefusal, FeedTask, PreviewTask, SyncTask } from "./feed-task.js";

export interface FeedCall {
  readonly task: FeedTask;
  readonly port: MessagePort;
}

/** When a preview has waited this long (ms) for a block to fill, the partial block is read. */
const PREVIEW_FLUSH_MS = 500;

type Body = Extract<Downloaded, { notModified: false }>;

/** The thread's only workbench, and its only state. Created for the first run. */
let workbench: Workbench | null = null;

function ownWorkbench(): Workbench {
  workbench ??= new EngineModule(workerData as EngineParts).workbench();
  return workbench;
}

export default async function feed({ task, port }: FeedCall): Promise<FeedRead | FeedPreview | FeedRefusal> {
  const stop = new AbortController();
  const sender = new BatchSender(port, () => stop.abort());
  try {
    return await (task.kind === "sync" ? sync(task, sender, stop.signal) : preview(task, stop.signal));
  } catch (error) {
    if (stop.signal.aborted) return { refused: { code: "SK-DS-503", message: "the run was stopped" } };
    if (!(error instanceof FeedError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  } finally {
    sender.end();
  }
}

async function sync(task: SyncTask, sender: BatchSender, signal: AbortSignal): Promise<FeedRead> {
  const { shards, limits } = task;
  const body = await fetched(task, task.validators, signal);
  if (body.notModified) {
    const nothing = { items: 0, unknown: 0, isEndProven: true, feedBytes: 0 };
    return { notModified: true, ...nothing, etag: null, lastModified: null };
  }
  const end = new FeedEnd();
  sender.begin({
    prepare: (documents) => prepareSynced(documents, shards, ownWorkbench(), limits),
    feedBytes: () => body.bytesRead(),
  });
  const mapped = itemMapper({
    fields: task.fields,
    fieldMap: task.feed.field_map,
    idField: task.feed.id_field,
  });
  let items = 0;
  let unknown = 0;
  for await (const group of itemsOf(task, body, end)) {
    for (const item of group) {
      items++;
      const document = mapped(item);
      if (document.id === null) unknown++;
      sender.add(document);
      if (sender.full) await sender.send(signal);
    }
    signal.throwIfAborted();
  }
  await sender.send(signal);
  const { etag, lastModified } = body;
  const isEndProven = end.isProven || body.isDelimited();
  return { notModified: false, items, unknown, isEndProven, feedBytes: body.bytesRead(), etag, lastModified };
}

async function preview(task: PreviewTask, signal: AbortSignal): Promise<FeedPreview> {
  const body = await fetched(task, { etag: null, lastModified: null }, signal);
  if (body.notModified)
    throw new FeedError("SK-DS-502", "the feed's server answered 304 to an unconditional request");
  const items: FeedItem[] = [];
  for await (const group of itemsOf(task, body)) {
    items.push(...group.slice(0, task.items - items.length));
    if (items.length < task.items) continue;
    await body.chunks.return?.(); // otherwise `break` would wait for the body's next piece
    break;
  }
  const mapped = itemMapper({
    fields: task.fields,
    fieldMap: task.feed.field_map,
    idField: task.feed.id_field,
  });
  const { fieldsSeen, fieldMap, schema } = suggestFor(items, task.feed.id_field);
  return {
    items: items.map((item) => {
      const { document, errors } = mapped(item);
      // Integers beyond 2^53 are bigints here. JSON.stringify refuses them, and the reply must be plain JSON.
      const source = JSON.parse(toJson(item.value));
      return { source, document: document === null ? null : JSON.parse(document), errors };
    }),
    fields_seen: fieldsSeen,
    suggested_field_map: fieldMap,
    suggested_schema: schema,
  };
}

function fetched(
  { feed, credentials, rules }: FeedTask,
  validators: SyncTask["validators"],
  signal: AbortSignal,
): Promise<Downloaded> {
  return download({ url: feed.url, credentials, ...validators, accept: "*/*" }, rules, signal);
}

/**
 * Reads the feed's items. A preview does not wait for full blocks and groups: it gets the first items as they
 * arrive.
 */
function itemsOf(task: FeedTask, body: Body, end?: FeedEnd): AsyncIterable<readonly FeedItem[]> {
  const { format, items_path: itemsPath, delimiter, encoding } = task.feed;
  const { contentType, contentEncoding } = body;
  const chunks = inflate(body.chunks, contentEncoding, task.rules.bytesMax, end);
  const options = { format, itemsPath, delimiter, encoding, itemBytesMax: task.itemBytesMax };
  if (task.kind === "sync") return readFeed({ chunks, contentType, end }, options);
  return readFeed(
    { chunks: withFlushes(chunks, PREVIEW_FLUSH_MS), contentType },
    { ...options, rowsPerGroup: task.items },
  );
}
