// Sends one question to a language model on an OpenAI-compatible server (POST .../chat/completions) and
// returns the JSON answer. Never retries. Knows nothing about the question's subject.
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
  /** What the question is about; sent as JSON text. */
  readonly input: unknown;
  readonly schemaName: string;
  /**
   * JSON schema of the answer. It is sent to the model, but the caller must check that the answer matches it.
   */
  readonly schema: JsonSchema;
}

export class ChatEndpoint {
  readonly #settings: EndpointSettings;
  readonly #server: ModelServer;

  /**
   * `addresses` limits which addresses the server may have. The default allows any address, for a server that
   * the operator has chosen.
   */
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

  /** Runs `work`, which may ask any number of questions, and aborts it after the time limit. */
  inTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(signal, this.#settings.msMax, work);
  }

  /** Returns the model's JSON answer. Throws EndpointError, even if the signal aborts. */
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

  /** Closes the connections and fails pending requests. */
  close(): void {
    this.#server.close();
  }
}

function contentOf(reply: unknown): string {
  const choices = isObject(reply) ? reply.choices : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(first) ? first.message : undefined;
  const content = isObject(message) ? message.content : undefined;
  if (typeof content !== "string") throw new EndpointError("the model's server answered without a message");
  return content;
}
