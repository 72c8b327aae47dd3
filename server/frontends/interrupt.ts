// Ends what a thread of this process is doing at the moment, in the middle of a loop too, and leaves the thread alive: its event loop
// goes on as after an error that nobody caught, but that no `finally` has seen. Worker.terminate would do without the
// thread's leave, but a thread with open sockets of uWebSockets.js takes the process along when it is ended like that.
import { Session } from "node:inspector";

/** Resolves when the thread was told. Rejects when it has no inspector. */
export async function interrupt(threadId: number): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    const attached = new Promise<string>((resolve) => {
      session.on("NodeWorker.attachedToWorker", ({ params }) => {
        if (params.workerInfo.workerId === String(threadId)) resolve(params.sessionId);
      });
    });
    const answered = new Promise<void>((resolve) => {
      session.on("NodeWorker.receivedMessageFromWorker", () => resolve());
    });
    await post(session, "NodeWorker.enable", { waitForDebuggerOnStart: false });
    const message = JSON.stringify({ id: 1, method: "Runtime.terminateExecution" });
    await post(session, "NodeWorker.sendMessageToWorker", { sessionId: await attached, message });
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
