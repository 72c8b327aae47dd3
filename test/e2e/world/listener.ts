// An HTTP implementation without the service behind it: requests go to a handler of the test.
import { HeaderBlock } from "../../../server/access/edge/headers.js";
import { DEFAULT_LIMITS } from "../../../server/ground/limits.js";
import { SharedAmount } from "../../../server/http/shared-amount.js";
import { BodyMemory } from "../../../server/http/transport/body-memory.js";
import { listen } from "../../../server/http/transport/listen.js";
import type { HttpListener, HttpReply, HttpRequest, SentReply } from "../../../server/http/transport/port.js";
import { UnsentBytes } from "../../../server/http/transport/unsent.js";
import type { Transport } from "./transports.js";

/** Listens on a free port. Requests that break a rule of HTTP get the reason as text. */
export function listenOver(
  transport: Transport,
  handler: (request: HttpRequest) => Promise<HttpReply>,
): Promise<HttpListener> {
  const amount = (): SharedAmount => new SharedAmount(SharedAmount.memory(1), 0);
  return listen(transport, {
    host: "127.0.0.1",
    port: 0,
    isShared: false,
    certificate: null,
    handler: (request) => handler(request).then(alone),
    malformed: ({ status, message }) => alone({ status, headers: [], body: message }),
    limits: DEFAULT_LIMITS,
    memory: new BodyMemory(1e9, 1e9, amount()),
    unsent: new UnsentBytes(1e9, amount()),
  });
}

/** The reply without anything that the service would add. */
function alone<R extends HttpReply>(reply: R): SentReply & { readonly reply: R } {
  return { reply, id: "", common: HeaderBlock.none, finished: (failure) => reply.onFinished?.(failure) };
}
