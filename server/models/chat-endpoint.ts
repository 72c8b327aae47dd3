// One question to a language model behind an OpenAI-compatible server (POST .../chat/completions), with an answer in JSON. Tries
// nothing twice. Knows nothing of what is asked.
import { isObject } from "../ground/input/json-value.js";
import type { JsonSchema } from "../ground/input/readers.js";
import { withDeadline } from "../ground/jobs/deadline.js";
import type { AddressRules } from "../ground/outbound/addresses.js";
import type { Network } from "../ground/outbound/connector.js";
import type { EndpointSettings } from "./ai-settings.js";
import { ANY_ADDRESS, EndpointError, ModelServer, UnreachableError } from "./model-server.js";

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

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
  readonly #server: ModelServer;

  /** `addresses`: those that the server may have; any when the operator has chosen it. */
  constructor(settings: EndpointSettings, addresses: AddressRules = ANY_ADDRESS, network?: Network) {
    this.#settings = settings;
    const { url, apiKey } = settings;
    this.#server = new ModelServer({
      url,
      root: "/v1",
      path: "/chat/completions",
      apiKey,
      addresses,
      answerBytesMax: ANSWER_BYTES_MAX,
      ...(network === undefined ? {} : { network }),
    });
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
      return JSON.parse(contentOf(await this.#server.post(body, signal))) as unknown;
    } catch (error) {
      if (signal.aborted) throw new EndpointError("the model took too long", { cause: error });
      if (error instanceof UnreachableError)
        throw new EndpointError("the model cannot be reached", { cause: error });
      if (error instanceof SyntaxError)
        throw new EndpointError("the model did not answer with JSON", { cause: error });
      throw error;
    }
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#server.close();
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
