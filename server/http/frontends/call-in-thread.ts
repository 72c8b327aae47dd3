// Calls a function in another thread of this process, in the middle of whatever that thread is doing, even an
// endless loop. The thread then continues where it was.
import { Session } from "node:inspector";

/**
 * Matches the inspector's title for a thread. The inspector's own `workerId` counts one session's threads and
 * is not the thread's id.
 */
const titleOf = (threadId: number): RegExp => new RegExp(`^\\[worker ${threadId}\\]`);

/** The global variable with the functions that a thread offers. */
const OFFERED = "skeinThreadCalls";

/** Functions without arguments. Their results must be plain values that fit into JSON. */
type OfferedCalls = Readonly<Record<string, () => unknown>>;

/** The inspector's reply to Runtime.evaluate. */
interface Evaluated {
  readonly result?: {
    readonly result: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
  };
}

/** Lets other threads call these functions in this thread. They must not wait for anything. */
export function offerCalls(calls: OfferedCalls): void {
  Object.assign(globalThis, { [OFFERED]: calls });
}

/**
 * Resolves with the function's result; with undefined if the thread offers no such function yet, or if it
 * ends meanwhile. Rejects if the thread does not exist or the function throws an Error. While the thread is
 * in native code, the call waits.
 */
export async function callInThread(threadId: number, name: string): Promise<unknown> {
  const session = new Session();
  session.connect();
  try {
    const title = titleOf(threadId);
    let sessionId: string | null = null;
    session.on("NodeWorker.attachedToWorker", ({ params }) => {
      if (title.test(params.workerInfo.title)) sessionId = params.sessionId;
    });
    const answered = new Promise<string>((resolve) => {
      session.on("NodeWorker.receivedMessageFromWorker", ({ params }) => resolve(params.message));
      session.on("NodeWorker.detachedFromWorker", ({ params }) => {
        if (params.sessionId === sessionId) resolve("{}");
      });
    });
    await post(session, "NodeWorker.enable", { waitForDebuggerOnStart: false }); // attaches to all threads
    if (sessionId === null) throw new Error(`thread ${threadId} does not exist`);
    const params = { expression: `globalThis.${OFFERED}?.${name}?.()`, returnByValue: true };
    const message = JSON.stringify({ id: 1, method: "Runtime.evaluate", params });
    await post(session, "NodeWorker.sendMessageToWorker", { sessionId, message });
    const { result } = JSON.parse(await answered) as Evaluated;
    await post(session, "NodeWorker.disable");
    const thrown = result?.exceptionDetails?.exception;
    if (thrown === undefined) return result?.result.value;
    // In a thread that is ended in the middle of the call, V8 throws a text, which has no description.
    if (thrown.description !== undefined) throw new Error(thrown.description);
  } finally {
    session.disconnect();
  }
}

function post(session: Session, method: string, parameters: object = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error) => (error === null ? resolve() : reject(error)));
  });
}
