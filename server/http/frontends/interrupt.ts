// Interrupts whatever a thread of this process is doing, even an endless loop, without ending the thread. The
// thread's event loop continues as after an uncaught error, except that no `finally` block runs.
// Worker.terminate can also stop a loop, but it takes the process down if the thread has open uWebSockets.js
// sockets.
import { Session } from "node:inspector";

/**
 * Matches the inspector's title for a thread. The inspector's own `workerId` counts one session's threads and
 * is not the thread's id.
 */
const titleOf = (threadId: number): RegExp => new RegExp(`^\\[worker ${threadId}\\]`);

/** Resolves once the thread has been interrupted or has ended. Rejects if the thread does not exist. */
export async function interrupt(threadId: number): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    const title = titleOf(threadId);
    let sessionId: string | null = null;
    session.on("NodeWorker.attachedToWorker", ({ params }) => {
      if (title.test(params.workerInfo.title)) sessionId = params.sessionId;
    });
    const answered = new Promise<void>((resolve) => {
      session.on("NodeWorker.receivedMessageFromWorker", () => resolve());
      session.on("NodeWorker.detachedFromWorker", ({ params }) => {
        if (params.sessionId === sessionId) resolve();
      });
    });
    await post(session, "NodeWorker.enable", { waitForDebuggerOnStart: false }); // attaches to all threads
    if (sessionId === null) throw new Error(`there is no such thread as ${threadId}`);
    const message = JSON.stringify({ id: 1, method: "Runtime.terminateExecution" });
    await post(session, "NodeWorker.sendMessageToWorker", { sessionId, message });
    await answered;
    await post(session, "NodeWorker.disable");
  } finally {
    session.disconnect();
  }
}

function post(session: Session, method: string, parameters: object = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error) => (error === null ? resolve() : reject(error)));
  });
}
