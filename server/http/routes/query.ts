// Searches: queries, suggestions and similar documents of an index, and several queries in one request.
import { serialize } from "node:v8";
import { type Plan, planOfTenant } from "../../access/tenants/plans.js";
import { checkRights, type Principal } from "../../access/tenants/principal.js";
import { contentsOf, type IndexContents } from "../../catalog/index-contents.js";
import { SkeinError } from "../../ground/errors.js";
import { object, required } from "../../ground/input/object-reader.js";
import { text } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { mayNameAsker, NOT_NAMED, splitAsker } from "../../question/request/asker.js";
import { MULTI_SEARCH, multiSearch, type SearchSlot } from "../../search/multi-search.js";
import { observedSearch, type QueryBody } from "../../search/observed-search.js";
import { similarDocuments } from "../../search/similar/similar.js";
import { suggest } from "../../search/suggest/suggest.js";
import { readJsonBytes } from "../body.js";
import { parseJson } from "../json.js";
import { dataReply, rawDataReply, rawReply, unexpected } from "../respond.js";
import type { IndexContext, Route, TenantContext } from "../router.js";
import type { SearchServices } from "../services.js";
import type { HttpReply } from "../transport/port.js";

const INDEX = { access: "index", scope: "search", missing: "SK-SE-404" } as const;

export const queryRoutes: readonly Route<SearchServices>[] = [
  { method: "POST", path: "/v1/indexes/{name}/query", operation: "query", ...INDEX, handle: query },
  {
    method: "POST",
    path: "/v1/indexes/{name}/documents/{id}/similar",
    operation: "similarDocuments",
    ...INDEX,
    handle: similar,
  },
  { method: "POST", path: "/v1/indexes/{name}/suggest", operation: "suggest", ...INDEX, handle: suggestions },
  {
    method: "POST",
    path: "/v1/multi-search",
    operation: "multiSearch",
    access: "tenant",
    scope: "search",
    handle: searchMany,
  },
];

const SLOT = object({ index: required(text()) }, { unknown: "ignored" });

async function query(context: IndexContext<SearchServices>): Promise<HttpReply> {
  const { limits } = context.services.config;
  const body = queryBody(await readInTurn(context), limits);
  const contents = contentsOf(context.state, context.record);
  return rawReply(await countedSearch(context, contents, body, limits.replyBytesMax));
}

/** Suggestions are neither counted nor logged as searches, because a client asks for them with every letter typed. */
async function suggestions(context: IndexContext<SearchServices>): Promise<HttpReply> {
  const { services, state, record, request, principal } = context;
  const { limits } = services.config;
  const body = parsed(await readJsonBytes(request, limits));
  services.lifecycle.checkOpen(record);
  return dataReply(await suggest(services, contentsOf(state, record), body, filterOf(principal)));
}

/** Like a suggestion it is neither counted nor logged as a search. */
async function similar(context: IndexContext<SearchServices>): Promise<HttpReply> {
  const { services, state, record, params, principal } = context;
  const bytes = await readInTurn(context);
  const body = bytes.length === 0 ? {} : parsed(bytes);
  services.lifecycle.checkOpen(record);
  const contents = contentsOf(state, record);
  return rawDataReply(await similarDocuments(services, contents, params.id!, body, filterOf(principal)));
}

async function searchMany(context: TenantContext<SearchServices>): Promise<HttpReply> {
  const { services, request, principal, id } = context;
  const { limits } = services.config;
  const body = parsed(await readInTurn(context));
  const { searches } = MULTI_SEARCH.read(body, "", { limits, code: "SK-SE-400" });
  const slots = searches.map((entry, i): SearchSlot => {
    const name = `searches[${i}]`;
    return (bytesMax, again) =>
      searchSlot(context, entry, name, again ? plainSearch : countedSearch, bytesMax);
  });
  const asError = (error: unknown): SkeinError => {
    if (error instanceof SkeinError) return error;
    services.log.error({ err: error, id, path: request.path }, "a search of a multi-search failed");
    return unexpected();
  };
  const nextTurn = (): Promise<void> => services.reads.turns.next(principal.tenant);
  return rawReply(await multiSearch(slots, limits, asError, nextTurn));
}

/** One search of a multi-search. Its rights, index and body are checked as those of a request of its own are. */
async function searchSlot(
  context: TenantContext<SearchServices>,
  entry: unknown,
  path: string,
  run: typeof plainSearch,
  bytesMax: number,
): Promise<Uint8Array> {
  const { lifecycle, catalog, config } = context.services;
  const { index: name } = SLOT.read(entry, path, { limits: config.limits, code: "SK-SE-400" });
  checkRights(context.principal, "search", name);
  const record = lifecycle.find(context.principal.tenant, name);
  if (record === undefined) throw noIndex(name);
  const end = await lifecycle.uses.begin(record.uid);
  try {
    const body = parsedBody(entry, config.limits);
    return await run(context, contentsOf(catalog.state, record), body, bytesMax);
  } catch (error) {
    // The index was deleted while the search was running. The client gets the 404 that a single query would get.
    const foreseen = error instanceof SkeinError && error.status !== 503;
    if (foreseen || catalog.state.indexes.has(record.uid)) throw error;
    throw noIndex(name, error);
  } finally {
    end();
  }
}

/** Runs a search and counts it, when it is answered, among the tenant's searches of the month. */
async function countedSearch(
  context: TenantContext<SearchServices>,
  contents: IndexContents,
  body: QueryBody,
  bytesMax: number,
): Promise<Uint8Array> {
  const { services, principal } = context;
  services.lifecycle.checkOpen(contents.record);
  const used = services.usage.begin("searches", principal.tenant, planOf(context), new Date());
  let answered = false;
  try {
    const answer = await plainSearch(context, contents, body, bytesMax);
    answered = true;
    return answer;
  } finally {
    services.usage.end("searches", used, answered);
  }
}

function plainSearch(
  context: TenantContext<SearchServices>,
  contents: IndexContents,
  body: QueryBody,
  bytesMax: number,
): Promise<Uint8Array> {
  const { services, principal, id } = context;
  services.lifecycle.checkOpen(contents.record);
  const { ai_query_understanding: understood } = planOf(context);
  const bounds = { bytesMax, understood, within: filterOf(principal) };
  return observedSearch(services, contents, byItsHolder(body, principal), bounds, id);
}

/** A token that names its holder decides who asks. */
function byItsHolder(body: QueryBody, { token }: Principal): QueryBody {
  if (token === null || token.userId === null) return body;
  return { ...body, askedBy: { ...body.askedBy, user: token.userId } };
}

/** The filter that the search token of who asks has; empty for none. */
function filterOf({ token }: Principal): string {
  return token?.filterBy ?? "";
}

/** The bytes of the body, a large one when it is the tenant's turn. */
async function readInTurn({
  services,
  request,
  principal,
}: TenantContext<SearchServices>): Promise<Uint8Array> {
  const bytes = await readJsonBytes(request, services.config.limits);
  const turn = services.reads.turns.forBytes(principal.tenant, bytes.length);
  if (turn !== undefined) await turn;
  return bytes;
}

function planOf({ services, principal, state }: TenantContext<SearchServices>): Plan {
  return planOfTenant(services.settings.now.plans, state, principal.tenant);
}

/** The body is only parsed when that is needed to tell what is asked from who asks. */
function queryBody(bytes: Uint8Array, limits: Limits): QueryBody {
  if (mayNameAsker(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
    return parsedBody(parsed(bytes), limits);
  return { bytes, askedBy: NOT_NAMED, value: () => parsed(bytes) };
}

function parsedBody(value: unknown, limits: Limits): QueryBody {
  const { askedBy, rest } = splitAsker(value, limits);
  return { bytes: serialize(rest), askedBy, value: () => value };
}

function parsed(bytes: Uint8Array): unknown {
  return parseJson(bytes, { depthMax: FIXED_LIMITS.jsonDepthMax, code: "SK-SE-400", exactIntegers: true });
}

function noIndex(name: string, cause?: unknown): SkeinError {
  return new SkeinError("SK-SE-404", "the index does not exist", {
    details: { index: name.slice(0, 200) },
    cause,
  });
}
