// Builds replies: JSON in the {data} envelope, and error replies. Only this file converts errors to bytes.

import type { HeaderLines } from "../access/edge/headers.js";
import { ERRORS, errorBody, SkeinError } from "../ground/errors.js";
import type { HttpReply, TextReply } from "./transport/port.js";

export const JSON_TYPE = ["content-type", "application/json; charset=utf-8"] as const;
export const NDJSON_TYPE = ["content-type", "application/x-ndjson; charset=utf-8"] as const;

const NONE: HeaderLines = [];
const JSON_HEADERS: HeaderLines = [JSON_TYPE];
const DATA_START = Buffer.from('{"data":');
const DATA_END = Buffer.from("}");

export function jsonReply(status: number, value: unknown, more: HeaderLines = NONE): TextReply {
  const headers = more.length === 0 ? JSON_HEADERS : [JSON_TYPE, ...more];
  return { status, headers, body: JSON.stringify(value) };
}

export function dataReply(data: unknown, status = 200): HttpReply {
  return { ...jsonReply(status, { data }), data };
}

/** A reply whose body is `json`, sent unchanged. */
export function rawReply(json: Uint8Array, onFinished?: HttpReply["onFinished"]): HttpReply {
  return { status: 200, headers: JSON_HEADERS, data: undefined, body: json, onFinished };
}

/** A reply that puts `json` in the {data} envelope without parsing it. */
export function rawDataReply(json: Uint8Array): HttpReply {
  return rawReply(Buffer.concat([DATA_START, json, DATA_END]));
}

export function errorReply(error: SkeinError, headers: HeaderLines = NONE): TextReply {
  let all = headers;
  if (error.retryAfter !== undefined)
    all = [...all, ["retry-after", String(Math.max(1, Math.ceil(error.retryAfter)))]];
  if (error.status === ERRORS["SK-SYS-401"].status)
    all = [...all, ["www-authenticate", 'Bearer realm="skein"']];
  return jsonReply(error.status, errorBody(error), all);
}

/** The error that clients see after an unexpected failure. The real error is only logged. */
export function unexpected(): SkeinError {
  return new SkeinError("SK-SYS-500", "an unexpected failure; see the server's log under the x-request-id");
}
