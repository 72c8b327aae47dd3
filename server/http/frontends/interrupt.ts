// Ends what a thread of this process is doing at the moment, in the middle of a loop too, and leaves the thread alive: its event loop
// goes on as after an error that nobody caught, but that no `finally` has seen. Worker.terminate would do without the
// thread's leave, but a thread with open sockets of uWebSockets.js takes the process along when it is ended like that.
import { Session } from "node:inspector";

/** What the inspector calls a thread. Its `workerId` counts the threads of one session and is not the thread's. */
const titleOf = (threadId: number): RegExp => new RegExp(`^\\[worker ${threadId}\\]`);

/** Resolves when the thread was told. Rejects when there is no such thread. */
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
    await post(session, "NodeWorker.enable", { waitForDebuggerOnStart: false }); // all threads are attached then
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
