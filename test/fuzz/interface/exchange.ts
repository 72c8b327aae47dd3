// Sends a request to the server exactly as written, except that {key} and {feeds} are filled in. The path is
// not normalised. Reads the reply.
import {
  type Agent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from "node:http";
import type { Reply, ReplyBody } from "../../e2e/world/reply.js";
import { finding } from "../target.js";
import { type FuzzRequest, isForTheLibrary, sentBody } from "./request.js";

/** Maximum response time in milliseconds, even on a busy machine. */
const ANSWER_MS_MAX = 50_000;

export interface Way {
  readonly port: number;
  readonly agent: Agent;
  readonly feedsPort: number;
  /** Null if no key is sent. */
  readonly key: string | null;
}

/**
 * Returns null if Node's client refuses to send the request, or the HTTP library refuses to accept it. The
 * reply's `json` is an empty object if the body is not JSON.
 */
export async function exchange(request: FuzzRequest, way: Way): Promise<Reply | null> {
  const inUrl = request.path.includes("{key}");
  const path = request.path.replaceAll("{key}", encodeURIComponent(way.key ?? ""));
  const body = sentBody(withPort(request, way.feedsPort));
  const headers: Record<string, string[]> = {};
  if (way.key !== null && !inUrl) headers.authorization = [`Bearer ${way.key}`];
  for (const [name, value] of request.headers) headers[name] = [...(headers[name] ?? []), value];
  const length: OutgoingHttpHeaders = body === null ? {} : { "content-length": body.length };
  const options = {
    host: "127.0.0.1",
    port: way.port,
    agent: way.agent,
    method: request.method,
    path,
    headers: { ...headers, ...length },
    timeout: ANSWER_MS_MAX,
  };
  const answered = new Promise<[IncomingMessage, Buffer] | null>((resolve, reject) => {
    let outgoing: ReturnType<typeof httpRequest>;
    try {
      outgoing = httpRequest(options);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      resolve(null);
      return;
    }
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)));
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve([response, Buffer.concat(chunks)]));
    });
    outgoing.end(body ?? undefined);
  });
  const answer = await answered.catch((error: Error) => {
    // The HTTP library's own reply to a HEAD request has a body, which Node's client rejects.
    if (isForTheLibrary(request)) return null;
    return finding(`no reply: ${error.message}`);
  });
  return answer === null ? null : replyOf(...answer);
}

function replyOf(response: IncomingMessage, bytes: Buffer): Reply {
  const text = bytes.toString("utf8");
  const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
  let json = {} as ReplyBody;
  if (isJson && text !== "") {
    try {
      json = JSON.parse(text) as ReplyBody;
    } catch {
      finding(`the reply's JSON cannot be read: ${text.slice(0, 500)}`);
    }
  }
  return { status: response.statusCode!, headers: response.headers, text, json };
}

function withPort(request: FuzzRequest, port: number): FuzzRequest {
  const { body } = request;
  if (body === null) return request;
  const text = Buffer.from(body).toString("latin1");
  if (!text.includes("{feeds}")) return request;
  return { ...request, body: Buffer.from(text.replaceAll("{feeds}", String(port)), "latin1") };
}
