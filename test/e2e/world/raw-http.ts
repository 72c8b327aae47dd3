// HTTP requests written directly to a socket, to act as clients that violate the protocol.
import { once } from "node:events";
import { ADMIN_KEY, type TestServer } from "./harness.js";

/** The head of a JSON request with a valid key. */
export function requestHead(method: string, path: string, length: number): string {
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
}

/**
 * Sends a request without a body whose head begins with `head`. Returns the response's status; 0 if the
 * connection closes without a response.
 */
export async function statusOf(server: TestServer, head: string): Promise<number> {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  socket.write(
    `${head}host: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\ncontent-type: application/json\r\n\r\n`,
  );
  const first = await Promise.race([
    once(socket, "data").then(([data]) => String(data)),
    once(socket, "close").then(() => ""),
  ]);
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1] ?? 0);
}
