// Search routes, for queries, suggestions and similar documents on one index, and for several queries in one
// request.
import { serialize } from "node:v8";
import { type Plan, planOfTenant } from "../../access/tenants/plans.js";
import type { Principal } from "../../access/tenants/principal.js";
import type { IndexContents } from "../../catalog/index-contents.js";
import { contentsOf } from "../../catalog/index-contents.js";
import { SkeinError } from "../../ground/errors.js";
import { isObject } from "../../ground/input/json-value.js";
import { object, required } from "../../ground/input/object-reader.js";
import { text } from "../../ground/input/readers.js";
import { run, type Work } from "../../ground/jobs/work.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { AskedBy } from "../../query-log/analytics/people.js";
import { mayNameAsker, NOT_NAMED, splitAsker } from "../../question/request/asker.js";
import { type BodyScan, scanBody } from "../../question/request/body-scan.js";
import { MULTI_SEARCH, multiSearch, type SearchSlot } from "../../search/multi-search.js";
import { observedSearch, type QueryBody } from "../../search/observed-search.js";
import { costOfMultiSearch, PARSED_TIMES, type QueryScale, type Reserve } from "../../search/query-cost.js";
import type { ReplyWriter } from "../../search/reply-writer.js";
import { similarDocuments } from "../../search/similar/similar.js";
import { CHUNK_ROWS, suggest } from "../../search/suggest/suggest.js";
import { jsonBytes, jsonBytesInTurn } from "../body.js";
import { parseJson } from "../json.js";
import { chargeSlots } from "../key-phases.js";
import { onIndex } from "../phases.js";
import { dataReply, JSON_TYPE, rawDataReply, rawReply, unexpected } from "../respond.js";
import type { IndexRequest, IndexRoute, Route, TenantRequest } from "../route.js";
import type { SearchServices } from "../services.js";
import { heldReply } from "../streams.js";
import type { HttpReply } from "../transport/port.js";
import { HELD_REPLY_BYTES } from "../transport/unsent.js";

const INDEX = { access: "index", scope: "search", missing: "SK-SE-404", opens: true } as const;

const QUERY: IndexRoute<SearchServices> = {
  method: "POST",
  path: "/v1/indexes/{name}/query",
  operation: "query",
  ...INDEX,
  body: jsonBytesInTurn,
  handle: query,
};

export const queryRoutes: readonly Route<SearchServices>[] = [
  QUERY,
  {
    method: "POST",
    path: "/v1/indexes/{name}/documents/{id}/similar",
    operation: "similarDocuments",
    ...INDEX,
    body: jsonBytesInTurn,
    handle: similar,
  },
  {
    method: "POST",
    path: "/v1/indexes/{name}/suggest",
    operation: "suggest",
    ...INDEX,
    body: jsonBytes,
    handle: suggestions,
  },
  {
    method: "POST",
    path: "/v1/multi-search",
    operation: "multiSearch",
    access: "tenant",
    scope: "search",
    body: jsonBytesInTurn,
    handle: searchMany,
  },
];

const SLOT = object({ index: required(text()) }, { unknown: "ignored" });

type Asked = TenantRequest<unknown, SearchServices>;

function query(request: IndexRequest<Uint8Array, SearchServices>): HttpReply | Promise<HttpReply> {
  const { limits } = request.services;
  const contents = contentsOf(request.state, request.record);
  const body = queryBody(request.body, limits);
  const written = run(countedSearch(request, contents, body, limits.replyBytesMax, reserveFor(request)));
  return written instanceof Promise ? written.then(writtenReply) : writtenReply(written);
}

function writtenReply({ bytes, release }: ReplyWriter): HttpReply {
  return rawReply(bytes, release);
}

/** Suggestions are not counted or logged as searches, because clients request them with every keystroke. */
async function suggestions(request: IndexRequest<Uint8Array, SearchServices>): Promise<HttpReply> {
  const { services, state, record, principal, request: http } = request;
  const asked = await parsedInTurn(request, CHUNK_ROWS);
  const contents = contentsOf(state, record);
  return dataReply(await run(suggest(services, contents, asked, filterOf(principal), http.life)));
}

/** Like suggestions, similar documents are not counted or logged as searches. */
async function similar(request: IndexRequest<Uint8Array, SearchServices>): Promise<HttpReply> {
  const { services, state, record, params, body, principal, request: http } = request;
  const asked = body.length === 0 ? {} : await parsedInTurn(request, services.limits.pageDocumentsMax);
  const contents = contentsOf(state, record);
  const filter = filterOf(principal);
  const found = similarDocuments(services, contents, params.id!, asked, filter, http.life);
  return rawDataReply(await run(found));
}

async function searchMany(request: TenantRequest<Uint8Array, SearchServices>): Promise<HttpReply> {
  const { services, principal, id, request: http } = request;
  const { limits, slotTurns } = services;
  const { tenant, keyId } = principal;
  const read = () => MULTI_SEARCH.read(parsed(request.body), "", { limits, code: "SK-SE-400" });
  let { searches } = read();
  chargeSlots(request, searches.length);
  const waits = reserveFor(request)(
    costOfMultiSearch(searches, request.body.length, (one) => scaleOf(request, one), limits),
  );
  if (waits !== undefined) {
    searches = []; // while it waits, only the body is kept
    await waits;
    searches = read().searches;
  }
  const slots = searches.map((entry, i): SearchSlot => {
    const name = `searches[${i}]`;
    return (bytesMax, again) => {
      const search = again ? plainSearch : countedSearch;
      return slotTurns.run(tenant, keyId, http.life, () =>
        http.life.whileWanted(searchSlot(request, entry, name, search, bytesMax)),
      );
    };
  });
  const asError = (error: unknown): SkeinError => {
    if (error instanceof SkeinError) return error;
    if (!http.aborted) {
      services.log.error({ err: error, id, path: http.path }, "a search of a multi-search failed");
    }
    return unexpected();
  };
  const checkWanted = (): void => {
    if (http.aborted) http.life.check();
  };
  const pieces = multiSearch(slots, limits, asError, checkWanted);
  return heldReply(pieces, JSON_TYPE, HELD_REPLY_BYTES, null);
}

/** What is known about the unchecked search of a multi-search; null if its index does not exist. */
function scaleOf({ services, principal }: Asked, search: unknown): QueryScale | null {
  const { lifecycle, hitSizes, reads } = services;
  const name = isObject(search) ? search.index : undefined;
  const record = typeof name === "string" ? lifecycle.find(principal.tenant, name) : undefined;
  if (record === undefined) return null;
  return { bodyBytes: 0, hitBytes: hitSizes.of(record), documents: reads.documents(record.uid) };
}

/**
 * Runs one search of a multi-search, after the same checks of rights, index and body as for a separate query.
 */
async function searchSlot(
  request: Asked,
  entry: unknown,
  path: string,
  search: typeof plainSearch,
  bytesMax: number,
): Promise<Uint8Array> {
  const { limits, reads } = request.services;
  const { index: name } = SLOT.read(entry, path, { limits, code: "SK-SE-400" });
  const reply = await onIndex(request, QUERY, name, (slot) => {
    const contents = contentsOf(slot.state, slot.record);
    return run(search(slot, contents, parsedBody(entry, limits), bytesMax, noReserve));
  });
  // Copied, because the answer may wait for those of the slots before it.
  const answer = new Uint8Array(reply.bytes);
  reply.release();
  // Cached answers come at once; without a pause, many large ones would be sent in one turn of the event
  // loop.
  const slice = reads.slices.forBytes(request.principal.tenant, answer.byteLength, request.request.life);
  if (slice !== undefined) await slice;
  return answer;
}

/** Runs a search. If it succeeds, counts it as one of the tenant's searches this month. */
function* countedSearch(
  request: Asked,
  contents: IndexContents,
  body: QueryBody,
  bytesMax: number,
  reserve: Reserve,
): Work<ReplyWriter> {
  const { services, principal } = request;
  const used = services.usage.begin("searches", principal.tenant, planOf(request), new Date());
  let answered = false;
  try {
    const answer = yield* plainSearch(request, contents, body, bytesMax, reserve);
    answered = true;
    return answer;
  } finally {
    services.usage.end("searches", used, answered);
  }
}

function plainSearch(
  request: Asked,
  contents: IndexContents,
  body: QueryBody,
  bytesMax: number,
  reserve: Reserve,
): Work<ReplyWriter> {
  const { services, principal, id, request: http } = request;
  const { ai_query_understanding: understood } = planOf(request);
  const bounds = { bytesMax, understood, within: filterOf(principal) };
  const wanted = { id, life: http.life, reserve };
  return observedSearch(services, contents, byItsHolder(body, principal), bounds, wanted);
}

function reserveFor({ services, principal, request }: Asked): Reserve {
  return (bytes) => services.admission.searches.reserve(principal, request.life, bytes);
}

/** For a search whose memory is already reserved. */
function noReserve(): undefined {
  return undefined;
}

/** Reserves the memory for a request that reads `rows` documents, then parses its body. */
async function parsedInTurn(
  request: IndexRequest<Uint8Array, SearchServices>,
  rows: number,
): Promise<unknown> {
  const { body, record, services } = request;
  await reserveFor(request)(PARSED_TIMES * body.length + rows * services.hitSizes.of(record));
  return parsed(body);
}

/** If the search token names a user, returns the body with that user instead of its own. */
function byItsHolder(body: QueryBody, { token }: Principal): QueryBody {
  if (token === null || token.userId === null) return body;
  const { bytes, askedBy, scan } = body;
  return { bytes, askedBy: { ...askedBy, user: token.userId }, scan, value: () => body.value() };
}

/** The filter in the caller's search token; "" if there is none. */
function filterOf({ token }: Principal): string {
  return token?.filterBy ?? "";
}

function planOf({ services, principal, state }: Asked): Plan {
  return planOfTenant(services.settings.now.plans, state, principal.tenant);
}

/** A body that is parsed only if it has to be. */
class ScannedBody implements QueryBody {
  readonly bytes: Uint8Array;
  readonly askedBy: AskedBy;
  readonly scan: BodyScan;

  constructor(scan: BodyScan) {
    this.bytes = scan.anonymous;
    this.askedBy = scan.askedBy;
    this.scan = scan;
  }

  value(): unknown {
    return parsed(this.scan.bytes);
  }
}

/**
 * Parses the body now only if it is unusual and may name the user. The user must be removed from the body,
 * because answers are cached by body and shared by all users.
 */
function queryBody(bytes: Uint8Array, limits: Limits): QueryBody {
  const scan = scanBody(bytes);
  if (scan !== null) return new ScannedBody(scan);
  if (mayNameAsker(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
    return parsedBody(parsed(bytes), limits);
  return { bytes, askedBy: NOT_NAMED, scan: null, value: () => parsed(bytes) };
}

function parsedBody(value: unknown, limits: Limits): QueryBody {
  const { askedBy, rest } = splitAsker(value, limits);
  return { bytes: serialize(rest), askedBy, scan: null, value: () => value };
}

function parsed(bytes: Uint8Array): unknown {
  return parseJson(bytes, { depthMax: FIXED_LIMITS.jsonDepthMax, code: "SK-SE-400", exactIntegers: true });
}
