// One question to a language model behind an OpenAI-compatible server (POST .../chat/completions), with an answer in JSON. Follows no
// redirect and tries nothing twice. Knows nothing of what is asked.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isObject } from "../input/json-value.js";
import type { JsonSchema } from "../input/readers.js";
import { withDeadline } from "../jobs/deadline.js";
import type { EndpointSettings } from "./ai-settings.js";

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const PATH = "/chat/completions";

/** The model cannot be reached, is too slow, or did not answer as it was asked to. */
export class EndpointError extends Error {
  override readonly name = "EndpointError";
}

export interface ModelQuestion {
  readonly instructions: string;
  /** Sent as JSON text. */
  readonly input: unknown;
  readonly schemaName: string;
  /** Of the answer. The model is told of it; the caller checks whether it was heeded. */
  readonly schema: JsonSchema;
}

export class ChatEndpoint {
  readonly #settings: EndpointSettings;
  readonly #url: URL;

  constructor(settings: EndpointSettings) {
    this.#settings = settings;
    this.#url = new URL(settings.url);
    if (!this.#url.pathname.endsWith(PATH))
      this.#url.pathname = `${this.#url.pathname.replace(/\/$/, "")}${PATH}`;
  }

  /** One piece of work, however many questions it takes, that ends when the time is over. */
  inTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(signal, this.#settings.msMax, work);
  }

  /** The JSON that the model has answered. Throws EndpointError, also when the signal ends the wait. */
  async ask(
    { instructions, input, schemaName, schema }: ModelQuestion,
    signal: AbortSignal,
  ): Promise<unknown> {
    const body = {
      model: this.#settings.model,
      messages: [
        { role: "system", content: instructions },
        { role: "user", content: JSON.stringify(input) },
      ],
      temperature: 0,
      response_format: { type: "json_schema", json_schema: { name: schemaName, strict: true, schema } },
    };
    try {
      const reply = JSON.parse(await this.#post(JSON.stringify(body), signal)) as unknown;
      return JSON.parse(contentOf(reply)) as unknown;
    } catch (error) {
      if (error instanceof EndpointError) throw error;
      if (signal.aborted) throw new EndpointError("the model took too long", { cause: error });
      if (error instanceof SyntaxError)
        throw new EndpointError("the model did not answer with JSON", { cause: error });
      throw new EndpointError("the model cannot be reached", { cause: error });
    }
  }

  async #post(body: string, signal: AbortSignal): Promise<string> {
    const { apiKey } = this.#settings;
    const send = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(this.#url, {
      method: "POST",
      agent: false,
      signal,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        accept: "application/json",
        "user-agent": "Skein",
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
    });
    request.end(body);
    const response = await answered;
    try {
      if (response.statusCode !== 200)
        throw new EndpointError(`the model's server answered with the status ${response.statusCode}`);
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of response) {
        bytes += (piece as Buffer).length;
        if (bytes > ANSWER_BYTES_MAX) throw new EndpointError("the model's answer is too large");
        pieces.push(piece as Buffer);
      }
      return Buffer.concat(pieces).toString("utf8");
    } finally {
      request.destroy();
    }
  }
}

function contentOf(reply: unknown): string {
  const choices = isObject(reply) ? reply.choices : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(first) ? first.message : undefined;
  const content = isObject(message) ? message.content : undefined;
  if (typeof content !== "string") throw new EndpointError("the model's server answered with no message");
  return content;
}
