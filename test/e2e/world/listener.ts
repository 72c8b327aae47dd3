// An HTTP implementation without the service behind it: requests go to a handler of the test.
import { DEFAULT_LIMITS } from "../../../server/ground/limits.js";
import { SharedAmount } from "../../../server/http/shared-amount.js";
import { BodyMemory } from "../../../server/http/transport/body-memory.js";
import { listen } from "../../../server/http/transport/listen.js";
import type { HttpHandler, HttpListener } from "../../../server/http/transport/port.js";
import { UnsentBytes } from "../../../server/http/transport/unsent.js";
import type { Transport } from "./transports.js";

/** Listens on a free port. Requests that break a rule of HTTP get the reason as text. */
export function listenOver(transport: Transport, handler: HttpHandler): Promise<HttpListener> {
  const amount = (): SharedAmount => new SharedAmount(SharedAmount.memory(1), 0);
  return listen(transport, {
    host: "127.0.0.1",
    port: 0,
    isShared: false,
    certificate: null,
    handler,
    malformed: ({ status, message }) => ({ status, headers: [], body: message }),
    limits: DEFAULT_LIMITS,
    memory: new BodyMemory(1e9, 1e9, amount()),
    unsent: new UnsentBytes(1e9, amount()),
  });
}
