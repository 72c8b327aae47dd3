// Checks that an address is free before several threads share it, because listening on a shared address would
// not report a conflict.
import { type AddressInfo, createServer } from "node:net";

/**
 * Resolves with `port`, or with a free port chosen by the system if `port` is 0. Rejects if the address
 * cannot be used.
 */
export function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", () => {
      reject(new Error(`cannot listen on ${host}:${port}: the address is in use or not allowed`));
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address() as AddressInfo;
      server.close(() => resolve(address.port));
    });
  });
}
