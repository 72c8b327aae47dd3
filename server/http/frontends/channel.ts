// A channel between the owner and a front-end. It carries calls (`ask`), which get a reply, and notices
// (`tell`), which do not. Messages arrive in the order in which they were sent.
import type { MessagePort, TransferListItem } from "node:worker_threads";
import { type ErrorCode, SkeinError } from "../../ground/errors.js";

/**
 * The functions that one end offers to the other, by name. Each takes one argument, which must be postable.
 */
export type Calls = Record<string, (argument: never) => unknown>;
type Argument<T extends Calls, K extends keyof T> = Parameters<T[K]>[0];
type Result<T extends Calls, K extends keyof T> = Awaited<ReturnType<T[K]>>;

/** An error in the form in which it is posted to another thread. */
export interface CarriedError {
  readonly message: string;
  readonly stack: string | undefined;
  /** Error code if the error is a SkeinError; undefined for other errors. */
  readonly code: ErrorCode | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfter: number | undefined;
}

type Message =
  | { readonly kind: "ask"; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly kind: "tell"; readonly name: string; readonly argument: unknown }
  | { readonly kind: "answer"; readonly id: number; readonly result: unknown }
  | { readonly kind: "refusal"; readonly id: number; readonly error: CarriedError };

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

export class ThreadChannel<Theirs extends Calls> {
  readonly #port: MessagePort;
  readonly #mine: Calls;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #closed: Error | null = null;

  /**
   * `mine` contains the functions that the other end may call. A function called by `tell` must not throw,
   * because nobody would catch the error.
   */
  constructor(port: MessagePort, mine: Calls) {
    this.#port = port;
    this.#mine = mine;
    port.on("message", (message: Message) => this.#receive(message));
  }

  /**
   * Calls a function at the other end and resolves with its result. Rejects if the function fails or the
   * channel is closed.
   */
  ask<K extends keyof Theirs & string>(
    name: K,
    argument: Argument<Theirs, K>,
    parts: readonly TransferListItem[] = [],
  ): Promise<Result<Theirs, K>> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#post({ kind: "ask", id, name, argument }, parts);
    });
  }

  tell<K extends keyof Theirs & string>(
    name: K,
    argument: Argument<Theirs, K>,
    parts: readonly TransferListItem[] = [],
  ): void {
    this.#post({ kind: "tell", name, argument }, parts);
  }

  /** Stops sending, and rejects unanswered calls with `reason`. */
  close(reason: Error): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#port.close();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(reason);
  }

  #receive(message: Message): void {
    if (this.#closed !== null) return;
    if (message.kind === "ask") void this.#answer(message.id, message.name, message.argument);
    else if (message.kind === "tell") this.#call(message.name, message.argument);
    else {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.kind === "answer") waiting?.resolve(message.result as never);
      else waiting?.reject(errorOf(message.error));
    }
  }

  async #answer(id: number, name: string, argument: unknown): Promise<void> {
    try {
      const result = await this.#call(name, argument);
      this.#post({ kind: "answer", id, result }, []);
    } catch (error) {
      this.#post({ kind: "refusal", id, error: carried(error) }, []);
    }
  }

  #call(name: string, argument: unknown): unknown {
    const answer = this.#mine[name];
    if (answer === undefined) throw new Error(`the other thread asks for "${name}", which nobody answers`);
    return answer(argument as never);
  }

  #post(message: Message, parts: readonly TransferListItem[]): void {
    if (this.#closed === null) this.#port.postMessage(message, parts);
  }
}

export function carried(error: unknown): CarriedError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const { code, details, retryAfter } = error instanceof SkeinError ? error : NO_SKEIN_ERROR;
  return { message, stack, code, details, retryAfter };
}

const NO_SKEIN_ERROR = { code: undefined, details: undefined, retryAfter: undefined };

/**
 * Recreates an error from another thread. Only a plain Error keeps the other thread's stack; a SkeinError
 * gets its code, details and retry time.
 */
export function errorOf({ message, stack, code, details, retryAfter }: CarriedError): Error {
  if (code === undefined) return Object.assign(new Error(message), { stack });
  return new SkeinError(code, message, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}
